// The driver of the compiler's fuzzer, which has no header of its own.
#ifndef CFUZZER_H
#define CFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// Runs as the command line says, calling `body` with one input after another; ends the program when it is done.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*body)(const uint8_t *data, size_t size));

#endif
