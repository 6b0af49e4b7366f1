#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

static atomic_int limited_thread;
static atomic_int overrun_descriptor;
static atomic_int overruns;

int clinux_thread_id(void) {
    return gettid();
}

int clinux_scheduling(int thread, int *priority) {
    struct sched_param parameters = {0};
    int policy = sched_getscheduler(thread);
    if (policy < 0 || sched_getparam(thread, &parameters) != 0) return -1;
    *priority = parameters.sched_priority;
    return policy & ~SCHED_RESET_ON_FORK;
}

/// Calls only what a signal handler may call.
static void step_down(int number) {
    (void)number;
    int reason = errno;
    const uint64_t one = 1;
    const struct sched_param ordinary = {0};
    // First, so that who sees the ordinary scheduling also sees why.
    atomic_store(&overruns, 1);
    // The kernel signals the thread that ran too long, here the caller; a signal from outside may reach any thread.
    // Only root may clear the flag once it is set.
    sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &ordinary);
    sched_setscheduler(atomic_load(&limited_thread), SCHED_OTHER | SCHED_RESET_ON_FORK, &ordinary);
    // This fails only if the counter is at its limit, and then the reader wakes anyway.
    (void)!write(atomic_load(&overrun_descriptor), &one, sizeof one);
    errno = reason;
}

int clinux_overran_real_time(void) {
    return atomic_load(&overruns);
}

int clinux_limit_real_time(int thread, int64_t microseconds, int descriptor) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_RTTIME, &limit) != 0) return -1;
    atomic_store(&limited_thread, thread);
    atomic_store(&overrun_descriptor, descriptor);
    struct sigaction action = {.sa_handler = step_down, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGXCPU, &action, NULL) != 0) return -1;
    if (limit.rlim_max > (rlim_t)microseconds) limit.rlim_max = (rlim_t)microseconds;
    if (limit.rlim_cur > limit.rlim_max / 2) limit.rlim_cur = limit.rlim_max / 2;
    return setrlimit(RLIMIT_RTTIME, &limit);
}
