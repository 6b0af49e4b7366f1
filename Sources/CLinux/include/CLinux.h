// The few Linux calls that Swift's Glibc import lacks, one wrapper each, named as the call with a prefix.
// All return what the call returns, if nothing else is said; errno is as the call left it.
#ifndef CLINUX_H
#define CLINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Names the calling thread; at most 15 characters, the rest is cut.
int clinux_set_thread_name(const char *name);
/// Sets the calling thread's timer slack in nanoseconds; 1 is the least, 0 would restore the default of 50 us.
int clinux_set_timer_slack(unsigned long nanoseconds);
/// A non-blocking, close-on-exec event counter to wake a poller.
int clinux_eventfd(void);
/// poll with a timeout in nanoseconds (negative waits for ever); EINTR is returned, not hidden.
int clinux_ppoll(void *descriptors, size_t count, int64_t timeout_nanoseconds);
/// Sleeps while a 32-bit word holds the value seen, until it is woken or an absolute CLOCK_MONOTONIC time has come.
/// No allocation, no lock; it may return early.
long clinux_futex_wait(const void *word, uint32_t seen, int64_t deadline_nanoseconds);
/// Wakes the one thread that sleeps on a word.
long clinux_futex_wake(const void *word);
/// Locks all pages of the process as they are touched, without reserving what is never used.
int clinux_lock_touched_memory(void);
/// Keeps the kernel from gathering this process's pages into huge ones behind its back.
int clinux_forgo_huge_pages(void);
/// Puts a terminal line into raw 8-bit mode at any speed, in bits per second.
int clinux_set_raw_line(int descriptor, unsigned int speed);
/// Turns IP_MULTICAST_ALL or IPV6_MULTICAST_ALL off, so that a socket hears only the groups it joined itself.
int clinux_hear_only_joined_groups(int socket, int family);
/// A non-blocking, close-on-exec socket that becomes readable when an address or an interface comes, goes or changes.
int clinux_address_news(void);
/// Whether a wireless interface, by its number, sleeps between what the access point sends: 1 or 0.
/// Negative if that is not known, as for interfaces that are not wireless.
int clinux_wifi_power_save(unsigned int interface);
/// Gives memory that is free back to the system.
void clinux_return_free_memory(void);
/// Raises the limit of open descriptors as far as it goes without asking anyone, and returns it; -1 if it is not told.
int64_t clinux_raise_descriptor_limit(void);
/// Has a signal counted from now on, instead of what it would do, and adds 1 to an event counter for each.
int clinux_take_signal(int number, int descriptor);
/// Has a signal do again what it does by default.
int clinux_leave_signal(int number);
/// How many of a signal have arrived since this was asked last.
uint32_t clinux_signals_arrived(int number);
/// Whether a signal is ignored, as `nohup` has it for SIGHUP.
int clinux_is_signal_ignored(int number);
/// Has faults such as SIGSEGV and abort() wait for the thread of clinux_finish_before_crash, 0.2 s at most.
/// They then end the process as they would have: same exit status, same core dump.
void clinux_handle_crashes(void);
/// Makes the calling thread the one that a crash elsewhere waits for. It sleeps on `word`, which then changes.
void clinux_finish_before_crash(void *word);
/// Whether a thread has crashed, and the process waits for the one that finishes.
int clinux_has_crashed(void);
/// Says that the calling thread has finished; `word` is not touched any more.
void clinux_finished(void *word);
/// Gives the calling thread a stack for signal handlers, which so work after a stack overflow, too.
void *clinux_make_signal_stack(void);
/// Takes such a stack away from the calling thread, before it ends.
void clinux_free_signal_stack(void *memory);

#endif
