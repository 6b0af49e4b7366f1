// libasound for Swift, with wrappers for function-like macros and variadic functions, which Swift cannot import.
#ifndef CALSA_SHIM_H
#define CALSA_SHIM_H

#include <alsa/asoundlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// Implemented in Swift: receives one line of libasound's own error messages.
void calsa_report(const char *text);

/// The handler for snd_lib_error_set_handler, which must be variadic, so it cannot be written in Swift.
static inline void calsa_complain(const char *file, int line, const char *function, int code, const char *format, ...) {
    char message[200];
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "%s: %s", function, message);
    calsa_report(text);
}

/// Sends libasound's error messages to calsa_report instead of the terminal.
static inline void calsa_capture_complaints(void) {
    snd_lib_error_set_handler(calsa_complain);
}

// The macros that prepare an event.
static inline void calsa_clear(snd_seq_event_t *event) { snd_seq_ev_clear(event); }
static inline void calsa_set_direct(snd_seq_event_t *event) { snd_seq_ev_set_direct(event); }
static inline void calsa_set_source(snd_seq_event_t *event, unsigned char port) { snd_seq_ev_set_source(event, port); }
static inline void calsa_set_subscribers(snd_seq_event_t *event) { snd_seq_ev_set_subs(event); }
/// Makes a queue send the event at a time in nanoseconds of the queue's own real time.
static inline void calsa_schedule(snd_seq_event_t *event, int queue, long long nanoseconds) {
    snd_seq_real_time_t time = {(unsigned)(nanoseconds / 1000000000), (unsigned)(nanoseconds % 1000000000)};
    snd_seq_ev_schedule_real(event, queue, 0, &time);
}
/// Makes the event start or stop a queue at once.
static inline void calsa_control_queue(snd_seq_event_t *event, int queue, snd_seq_event_type_t type) {
    snd_seq_ev_clear(event);
    snd_seq_ev_set_direct(event);
    snd_seq_ev_set_queue_control(event, type, queue, 0);
}
/// Writes a message of up to 16 bytes to all subscribers of a port at once.
///
/// The kernel wants such bytes right behind their event.
static inline ssize_t calsa_write_bytes(int descriptor, unsigned char port, const void *bytes, size_t count) {
    unsigned char buffer[sizeof(snd_seq_event_t) + 16];
    snd_seq_event_t event;
    if (count > 16) return -1;
    snd_seq_ev_clear(&event);
    snd_seq_ev_set_direct(&event);
    snd_seq_ev_set_source(&event, port);
    snd_seq_ev_set_subs(&event);
    snd_seq_ev_set_sysex(&event, (unsigned)count, NULL);
    memcpy(buffer, &event, sizeof event);
    memcpy(buffer + sizeof event, bytes, count);
    return write(descriptor, buffer, sizeof event + count);
}

#endif
