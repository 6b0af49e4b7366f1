// Simulates what hangs: while the file named by HANG exists, fsync of any file, and stat of any path with "hung" in it,
// do not return. The file's name with `.fsync` or `.stat` appended exists once a thread waits in that call.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void wait_while_hanging(const char *call) {
    const char *hang = getenv("HANG");
    char waits[4096];
    if (hang == NULL || access(hang, F_OK) != 0) return;
    snprintf(waits, sizeof waits, "%s.%s", hang, call);
    close(open(waits, O_WRONLY | O_CREAT, 0666));
    while (access(hang, F_OK) == 0) usleep(10000);
}

int fsync(int descriptor) {
    wait_while_hanging("fsync");
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return next(descriptor);
}

int stat(const char *restrict path, struct stat *restrict status) {
    if (strstr(path, "hung") != NULL) wait_while_hanging("stat");
    int (*next)(const char *, struct stat *) = (int (*)(const char *, struct stat *))dlsym(RTLD_NEXT, "stat");
    return next(path, status);
}
