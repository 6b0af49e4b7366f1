// The null instrument: a SCHED_FIFO thread that sleeps to absolute times, and notes when it woke. Nothing else.
//
//     sleeper NANOSECONDS
//
// Upon SIGTERM it prints its waking times, nanoseconds of CLOCK_MONOTONIC_RAW, one a line. What these deviate from an
// even grid is the kernel's and the lab's doing, and no program that sleeps can do better.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { MOST = 1 << 20 };

static long long woken[MOST];
static volatile sig_atomic_t ending;

static void end(int signal) { ending = signal; }

int main(int count, char **arguments) {
    long long interval = count == 2 ? atoll(arguments[1]) : 0;
    struct sched_param priority = {.sched_priority = 80};
    struct sigaction action = {.sa_handler = end};
    if (interval <= 0 || sigaction(SIGTERM, &action, NULL) != 0 || mlockall(MCL_CURRENT) != 0 ||
        sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        perror("sleeper");
        return 1;
    }
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    int seen = 0;
    while (!ending && seen < MOST) {
        long long next = due.tv_nsec + interval;
        due = (struct timespec){.tv_sec = due.tv_sec + next / 1000000000, .tv_nsec = next % 1000000000};
        if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) continue;
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        woken[seen++] = now.tv_sec * 1000000000LL + now.tv_nsec;
    }
    for (int index = 0; index < seen; index++) printf("%lld\n", woken[index]);
    return 0;
}
