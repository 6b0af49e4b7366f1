// Wrappers for Linux calls that Swift's Glibc import lacks.
// Unless stated otherwise, each returns what the call returns and leaves errno as the call set it.
#ifndef CLINUX_H
#define CLINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Names the calling thread; only the first 15 characters are used.
int clinux_set_thread_name(const char *name);
/// Sets the calling thread's timer slack in nanoseconds; at least 1, because 0 would restore the default of 50 us.
int clinux_set_timer_slack(unsigned long nanoseconds);
/// Opens a non-blocking, close-on-exec event counter, which wakes a thread that polls it.
int clinux_eventfd(void);
/// poll with a timeout in nanoseconds (negative waits for ever); EINTR is returned, not hidden.
int clinux_ppoll(void *descriptors, size_t count, int64_t timeout_nanoseconds);
/// Sleeps while a 32-bit word holds the value `seen`, until woken or until an absolute CLOCK_MONOTONIC time.
/// Allocates nothing and takes no lock. May return early.
long clinux_futex_wait(const void *word, uint32_t seen, int64_t deadline_nanoseconds);
/// Wakes one thread that sleeps on a word.
long clinux_futex_wake(const void *word);
/// Locks each page of the process in memory once it is used; pages that are never used take no memory.
int clinux_lock_touched_memory(void);

/// Reads a byte of each page of code, of the program and its libraries, so that none must be read from a disk later.
void clinux_load_code(void);
/// Keeps the kernel from merging this process's pages into huge pages.
int clinux_forgo_huge_pages(void);
/// Puts a terminal line into raw 8-bit mode at any speed, in bits per second.
int clinux_set_raw_line(int descriptor, unsigned int speed);
/// Turns IP_MULTICAST_ALL or IPV6_MULTICAST_ALL off, so that a socket receives only from groups it joined itself.
int clinux_hear_only_joined_groups(int socket, int family);
/// Opens a non-blocking, close-on-exec socket that becomes readable when an address or interface changes.
int clinux_address_changes(void);
/// Whether a wireless interface, given by its number, uses power saving: 1 or 0.
/// Negative if unknown, as for interfaces that are not wireless.
int clinux_wifi_power_save(unsigned int interface);
/// Opens a file only to examine it, close-on-exec: neither waits for a pipe nor wakes a device.
int clinux_hold_file(const char *path);
/// Returns freed memory to the system.
void clinux_return_free_memory(void);
/// Raises the soft limit of open descriptors to the hard limit and returns it; -1 if the limit cannot be read.
int64_t clinux_raise_descriptor_limit(void);
/// From now on, counts a signal instead of its usual effect, and adds 1 to the event counter `descriptor` each time.
int clinux_take_signal(int number, int descriptor);
/// Restores a signal's default effect.
int clinux_leave_signal(int number);
/// How many times a signal has arrived since the last call.
uint32_t clinux_signals_arrived(int number);
/// Whether a signal is ignored, as `nohup` does with SIGHUP.
int clinux_is_signal_ignored(int number);
/// The kernel's number of the calling thread.
int clinux_thread_id(void);
/// The policy of a thread, such as SCHED_FIFO, and its real-time priority; -1 if there is no such thread. 0 is the caller.
int clinux_scheduling(int thread, int *priority);
/// Limits how long real-time threads of this process may run without sleeping (RLIMIT_RTTIME).
/// After half of it `thread` gets ordinary scheduling by SIGXCPU, as does the one that ran so long, and 1 is added to the
/// event counter `descriptor`. After all of it the kernel ends the process. The limit cannot be raised again.
int clinux_limit_real_time(int thread, int64_t microseconds, int descriptor);
/// Whether a thread has run for too long, as limited by `clinux_limit_real_time`.
int clinux_overran_real_time(void);
/// Makes faults such as SIGSEGV and abort() wait for the thread of clinux_finish_before_crash, at most this long.
/// They then end the process as usual, with the same exit status and core dump.
void clinux_handle_crashes(int milliseconds);
/// Makes crashes of other threads wait for the calling thread. A crash changes `word`, on which the thread sleeps.
void clinux_finish_before_crash(void *word);
/// Does the same as a crash: has that thread finish, and waits for it, at most this long.
void clinux_finish_now(int milliseconds);
/// Whether the thread of clinux_finish_before_crash must finish, because a crash or clinux_finish_now waits for it.
int clinux_must_finish(void);
/// Tells those who wait that the calling thread has finished; `word` is not used any more.
void clinux_finished(void *word);
/// Gives the calling thread a stack for signal handlers, so that they also work after a stack overflow.
void *clinux_make_signal_stack(void);
/// Frees that stack; call it on the same thread before the thread ends.
void clinux_free_signal_stack(void *memory);

#endif
