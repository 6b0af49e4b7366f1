#define _GNU_SOURCE
#include "CLinux.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Linux 4.20 and later; older C libraries do not name it.
#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

int clinux_set_thread_name(const char *name) {
    char short_name[16];
    snprintf(short_name, sizeof short_name, "%s", name);
    return pthread_setname_np(pthread_self(), short_name);
}

int clinux_set_timer_slack(unsigned long nanoseconds) {
    return prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0);
}

int clinux_eventfd(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int clinux_ppoll(void *descriptors, size_t count, int64_t timeout_nanoseconds) {
    struct timespec timeout = {timeout_nanoseconds / 1000000000, timeout_nanoseconds % 1000000000};
    return ppoll(descriptors, count, timeout_nanoseconds < 0 ? NULL : &timeout, NULL);
}

long clinux_futex_wait(const void *word, uint32_t seen, int64_t deadline_nanoseconds) {
    struct timespec deadline = {deadline_nanoseconds / 1000000000, deadline_nanoseconds % 1000000000};
    return syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

long clinux_futex_wake(const void *word) {
    return syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

int clinux_lock_touched_memory(void) {
    return mlockall(MCL_CURRENT | MCL_ONFAULT);
}

static int load_code(struct dl_phdr_info *object, size_t size, void *page_size) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t page = *(size_t *)page_size;
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        uintptr_t end = object->dlpi_addr + part->p_vaddr + part->p_memsz;
        for (uintptr_t at = start; at < end; at += page) (void)*(volatile const char *)at;
    }
    return 0;
}

void clinux_load_code(void) {
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(load_code, &page_size);
}

int clinux_forgo_huge_pages(void) {
    return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

int clinux_set_raw_line(int descriptor, unsigned int speed) {
    struct termios2 line;
    if (ioctl(descriptor, TCGETS2, &line) != 0) return -1;
    line.c_iflag = IGNBRK | IGNPAR;
    line.c_oflag = 0;
    line.c_lflag = 0;
    line.c_cflag = CS8 | CREAD | CLOCAL | BOTHER;
    line.c_ispeed = speed;
    line.c_ospeed = speed;
    return ioctl(descriptor, TCSETS2, &line);
}

int clinux_hear_only_joined_groups(int socket, int family) {
    int off = 0;
    if (family == AF_INET6) return setsockopt(socket, IPPROTO_IPV6, IPV6_MULTICAST_ALL, &off, sizeof off);
    return setsockopt(socket, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off);
}

int clinux_address_changes(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl groups = {.nl_family = AF_NETLINK};
    groups.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    if (bind(descriptor, (struct sockaddr *)&groups, sizeof groups) == 0) return descriptor;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

int clinux_hold_file(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

void clinux_return_free_memory(void) { malloc_trim(0); }

int64_t clinux_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    return limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
}
