// Simulates a kernel older than 5.14, which cannot timestamp the bytes that a raw MIDI device receives.
#include <errno.h>

int snd_rawmidi_params_set_read_mode(const void *device, void *parameters, int mode) {
    (void)device, (void)parameters;
    return mode == 0 ? 0 : -ENOTSUP;
}
