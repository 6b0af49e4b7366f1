// Simulates a kernel that refuses the sequencer call with number REFUSE for ports numbered 64 or higher.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>

int ioctl(int descriptor, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    unsigned char *argument = va_arg(arguments, unsigned char *);
    va_end(arguments);
    const char *refused = getenv("REFUSE");
    // The argument of these calls begins with an address: the client's number, then the port's number.
    if (refused && _IOC_TYPE(request) == 'S' && _IOC_NR(request) == (unsigned)atoi(refused) && argument[1] >= 64) {
        errno = EINVAL;
        return -1;
    }
    int (*next)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    return next(descriptor, request, argument);
}
