// Tries what the units' directives forbid, each in a process of its own, and prints for each whether it was done.
//
//     forbidden FOLDER
//
// A line is a name and `done`, the error, or `killed`. FOLDER holds what guest/sandbox.py has put there.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *folder;

static const char *in_folder(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int opened(const char *path, int flags) { return open(path, flags | O_CLOEXEC, 0666) < 0 ? errno : 0; }

static int made(const char *path) {
    int error = opened(path, O_WRONLY | O_CREAT);
    unlink(path);
    return error;
}

// A new file of one's own, where every sandbox may write.
static int own(const char **path) {
    static char name[64];
    snprintf(name, sizeof name, "/dev/shm/forbidden-%d", getpid());
    *path = name;
    return open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
}

static int write_anywhere(void) { return made("/srv/forbidden"); }
static int write_usr(void) { return made("/usr/src/forbidden"); }
static int write_home(void) { return made("/run/home/forbidden"); }
static int write_state(void) { return made("/var/lib/tactus/forbidden"); }
static int write_profiles(void) { return made("/var/lib/tactus-profiles/forbidden"); }
static int see_homes(void) { return opened("/run/user/forbidden", O_RDONLY); }
static int see_tmp(void) { return opened("/tmp/forbidden", O_RDONLY); }
static int see_processes(void) { return opened("/proc/1/status", O_RDONLY); }
static int read_roots_file(void) { return opened(in_folder("root"), O_RDONLY); }
static int read_users_file(void) { return opened(in_folder("user"), O_RDONLY); }
static int open_tunnel(void) { return opened("/dev/net/tun", O_RDWR); }
static int open_sequencer(void) { return opened("/dev/snd/seq", O_RDWR); }
static int open_serial_line(void) { return opened("/dev/ttyS0", O_RDWR | O_NONBLOCK | O_NOCTTY); }
static int open_kernel_log(void) { return opened("/dev/kmsg", O_RDONLY); }
static int read_kernel_log(void) { return klogctl(10, NULL, 0) < 0 ? errno : 0; }
static int set_tunable(void) { return opened("/proc/sys/kernel/printk", O_WRONLY); }

static int give_away_file(void) {
    const char *path;
    own(&path);
    int error = chown(path, 1, 1) ? errno : 0;
    unlink(path);
    return error;
}

static int make_setuid_file(void) {
    const char *path;
    own(&path);
    int error = chmod(path, 04755) ? errno : 0;
    unlink(path);
    return error;
}

// Of the errors that are none of the system's, EACCES fits best.
static int make_open_file(void) {
    const char *path;
    struct stat status;
    int descriptor = own(&path);
    fstat(descriptor, &status);
    unlink(path);
    return status.st_mode & 077 ? 0 : EACCES;
}

static int gain_privileges(void) {
    execl(in_folder("setuid"), "setuid", NULL);
    return errno;
}

static int change_personality(void) { return personality(PER_LINUX32) < 0 ? errno : 0; }

static int write_and_execute(void) {
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? errno : 0;
}

static int set_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return clock_settime(CLOCK_REALTIME, &now) ? errno : 0;
}

static int make_control_group(void) {
    int error = mkdir("/sys/fs/cgroup/forbidden", 0755) ? errno : 0;
    rmdir("/sys/fs/cgroup/forbidden");
    return error;
}

static int set_host_name(void) {
    struct utsname name;
    uname(&name);
    return sethostname(name.nodename, strlen(name.nodename)) ? errno : 0;
}

// The kernel says so if there is no such module; who may not unload any is not told.
static int unload_module(void) {
    syscall(SYS_delete_module, "forbidden", O_NONBLOCK);
    return errno == ENOENT ? 0 : errno;
}

static int open_packet_socket(void) { return socket(AF_PACKET, SOCK_DGRAM, 0) < 0 ? errno : 0; }
static int make_namespace(void) { return unshare(CLONE_NEWUTS) ? errno : 0; }

static int call_as_32_bit(void) {
    long result = 20;  // getpid
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result < 0 ? -(int)result : 0;
}

static int mount_disk(void) {
    const char *place = in_folder("disk");
    if (mount("none", place, "tmpfs", 0, NULL)) return errno;
    umount2(place, MNT_DETACH);
    return 0;
}

static int change_root(void) { return chroot("/") ? errno : 0; }
static int be_nice(void) { return setpriority(PRIO_PROCESS, 0, 5) ? errno : 0; }

static int be_on_time(void) {
    struct sched_param wanted = {.sched_priority = 80};
    return sched_setscheduler(0, SCHED_FIFO, &wanted) ? errno : 0;
}

static int lock_memory(void) {
    size_t size = 32 << 20;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mlock(memory, size) ? errno : 0;
}

#define ATTEMPT(name) {#name, name}
static const struct {
    const char *name;
    int (*act)(void);
} attempts[] = {
    ATTEMPT(write_anywhere), ATTEMPT(write_usr), ATTEMPT(write_home), ATTEMPT(write_state), ATTEMPT(write_profiles),
    ATTEMPT(see_homes), ATTEMPT(see_tmp), ATTEMPT(see_processes), ATTEMPT(read_roots_file), ATTEMPT(read_users_file),
    ATTEMPT(open_tunnel), ATTEMPT(open_sequencer), ATTEMPT(open_serial_line), ATTEMPT(open_kernel_log),
    ATTEMPT(read_kernel_log), ATTEMPT(set_tunable), ATTEMPT(give_away_file), ATTEMPT(make_setuid_file),
    ATTEMPT(make_open_file), ATTEMPT(gain_privileges), ATTEMPT(change_personality), ATTEMPT(write_and_execute),
    ATTEMPT(set_clock), ATTEMPT(make_control_group), ATTEMPT(set_host_name), ATTEMPT(unload_module),
    ATTEMPT(open_packet_socket), ATTEMPT(make_namespace), ATTEMPT(call_as_32_bit), ATTEMPT(mount_disk),
    ATTEMPT(change_root), ATTEMPT(be_nice), ATTEMPT(be_on_time), ATTEMPT(lock_memory),
};

int main(int count, char **arguments) {
    // As `gain_privileges` runs it: is it root now?
    if (count < 2) return geteuid() == 0 ? 0 : EPERM;
    folder = arguments[1];
    for (size_t number = 0; number < sizeof attempts / sizeof *attempts; number++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) _exit(attempts[number].act());
        int status = 0;
        waitpid(child, &status, 0);
        const char *said = WIFSIGNALED(status)     ? "killed"
                           : WEXITSTATUS(status)   ? strerrorname_np(WEXITSTATUS(status))
                                                   : "done";
        printf("%s %s\n", attempts[number].name, said);
    }
    return 0;
}
