// Tells the thread sanitizer what Swift's Mutex does when threads meet at it; linked into the tests by `make tsan`.
//
// A free Mutex is taken and given back by atomics that are compiled into our code, which the sanitizer understands. One
// that is contended is handed over by the kernel (FUTEX_LOCK_PI), from a library that is not built for the sanitizer: it
// would take all that the Mutex protects for a race. These two take the place of the library's functions and call them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
/// Swift's `self`, which is the mutex's word.
#define SELF __attribute__((swift_context)) void *word

// The sanitizer's own: what happened before a release has happened before the acquire that follows.
void __tsan_acquire(void *word);
void __tsan_release(void *word);

SWIFT void lock_contended(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock_contended(SELF) __asm__(UNLOCK);

SWIFT void lock_contended(uint32_t thread, SELF) {
    SWIFT void (*lock)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
    lock(thread, word);
    __tsan_acquire(word);
}

SWIFT void unlock_contended(SELF) {
    SWIFT void (*unlock)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
    __tsan_release(word);
    unlock(word);
}
