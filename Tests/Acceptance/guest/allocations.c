// Counts memory allocations, separately for one thread that must not make any. Preloaded into the release executable.
//
// The counts are two 64-bit words in the file that ALLOCATIONS names: those of the thread that COUNTED_THREAD names,
// and those of all other threads.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct { uint64_t counted, elsewhere; } early, *counts = &early;
static const char *wanted = "";

static void count(void) {
    static __thread enum { UNKNOWN, COUNTED, ELSEWHERE } role;
    if (role != COUNTED) {
        // A thread gets its name after it has started, so a different name is not final.
        char name[16] = "";
        pthread_getname_np(pthread_self(), name, sizeof name);
        role = strcmp(name, wanted) == 0 ? COUNTED : ELSEWHERE;
    }
    __atomic_fetch_add(role == COUNTED ? &counts->counted : &counts->elsewhere, 1, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void begin(void) {
    if (getenv("COUNTED_THREAD")) wanted = getenv("COUNTED_THREAD");
    const char *path = getenv("ALLOCATIONS");
    int file = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof early) != 0) return;
    void *shared = mmap(NULL, sizeof early, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) counts = shared;
    close(file);
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) { count(); return __libc_malloc(size); }
void *calloc(size_t items, size_t size) { count(); return __libc_calloc(items, size); }
void *realloc(void *old, size_t size) { count(); return __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
void *memalign(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
int posix_memalign(void **place, size_t alignment, size_t size) {
    count();
    *place = __libc_memalign(alignment, size);
    return *place ? 0 : 12;
}
// Freeing counts as well, because it takes the allocator's lock.
void free(void *old) {
    if (old) count();
    __libc_free(old);
}
