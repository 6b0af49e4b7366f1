#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic uint32_t arrived[_NSIG];
static _Atomic int descriptors[_NSIG];

static void note(int number) {
    int reason = errno;
    const uint64_t one = 1;
    atomic_fetch_add(&arrived[number], 1);
    // This fails only if the counter is at its limit, and then the reader wakes anyway.
    (void)!write(atomic_load(&descriptors[number]), &one, sizeof one);
    errno = reason;
}

int clinux_take_signal(int number, int descriptor) {
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    atomic_store(&descriptors[number], descriptor);
    return sigaction(number, &action, NULL);
}

int clinux_leave_signal(int number) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    return sigaction(number, &action, NULL);
}

uint32_t clinux_signals_arrived(int number) {
    return atomic_exchange(&arrived[number], 0);
}

int clinux_is_signal_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
