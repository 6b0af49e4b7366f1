#define _GNU_SOURCE
#include "CLinux.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// The signals that the kernel, or the program itself, sends to a faulty thread.
static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
enum { fault_count = sizeof faults / sizeof *faults };

static struct sigaction before[_NSIG];
/// The word on which the thread of clinux_finish_before_crash sleeps; NULL if there is no such thread.
static _Atomic(uint32_t *) finisher_word;
static _Atomic pid_t finisher;
static atomic_bool must_finish;
static atomic_bool is_finished;
/// Longest wait of a crash for the finisher, in milliseconds.
static atomic_int crash_timeout_ms;

/// Calls only what a signal handler may call.
void clinux_finish_now(int milliseconds) {
    uint32_t *word = atomic_load(&finisher_word);
    if (word == NULL || atomic_load(&finisher) == gettid()) return;
    atomic_store(&must_finish, true);
    __atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
    clinux_futex_wake(word);
    const struct timespec millisecond = {.tv_nsec = 1000000};
    for (int turn = 0; turn < milliseconds && !atomic_load(&is_finished); turn++) nanosleep(&millisecond, NULL);
}

static void crash(int number, siginfo_t *information, void *context) {
    (void)context;
    clinux_finish_now(atomic_load(&crash_timeout_ms));
    sigaction(number, &before[number], NULL);
    // What a program has sent is no fault. Swift's own handler, which reports faults, would leave the process standing: it
    // returns, and counts on the fault to happen once more.
    if (information->si_code <= 0) signal(number, SIG_DFL);
    // The signal stays blocked until this handler returns. Then it ends the process as if the fault had just happened.
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, information) != 0) raise(number);
}

void clinux_handle_crashes(int milliseconds) {
    atomic_store(&crash_timeout_ms, milliseconds);
    struct sigaction action = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int index = 0; index < fault_count; index++) {
        sigaction(faults[index], NULL, &before[faults[index]]);
        if (before[faults[index]].sa_handler != SIG_IGN) sigaction(faults[index], &action, NULL);
    }
}

void clinux_finish_before_crash(void *word) {
    // With these signals blocked, a fault of this thread ends the process at once, and a signal from outside goes to
    // another thread.
    sigset_t own;
    sigemptyset(&own);
    for (int index = 0; index < fault_count; index++) sigaddset(&own, faults[index]);
    pthread_sigmask(SIG_BLOCK, &own, NULL);
    atomic_store(&finisher, gettid());
    atomic_store(&finisher_word, word);
}

int clinux_must_finish(void) {
    return atomic_load_explicit(&must_finish, memory_order_relaxed);
}

void clinux_finished(void *word) {
    uint32_t *own = word;
    atomic_store(&is_finished, atomic_load(&must_finish));
    // Keep the word if another thread has become the finisher meanwhile.
    atomic_compare_exchange_strong(&finisher_word, &own, NULL);
}

void *clinux_make_signal_stack(void) {
    long size = sysconf(_SC_SIGSTKSZ);
    stack_t stack = {.ss_size = size > 16384 ? (size_t)size : 16384};
    stack.ss_sp = malloc(stack.ss_size);
    if (stack.ss_sp != NULL) sigaltstack(&stack, NULL);
    return stack.ss_sp;
}

void clinux_free_signal_stack(void *memory) {
    const stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    free(memory);
}
