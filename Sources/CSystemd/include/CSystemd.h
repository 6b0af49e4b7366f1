// The part of sd-bus, libsystemd's client of D-Bus, that is used here. The library is not linked but loaded at its
// first use, so the program also runs without it, and none of its headers is needed to build.
#ifndef CSYSTEMD_H
#define CSYSTEMD_H

#include <stddef.h>
#include <stdint.h>

struct sd_bus;
struct sd_bus_message;

/// As sd_bus_error.
struct csystemd_error {
    const char *name;
    const char *message;
    int needs_free;
};

/// Functions of libsystemd, each as the manual describes the one whose name also has `sd_` in front.
/// Those that return an int return a negative errno if they fail.
struct csystemd {
    int (*bus_open_system)(struct sd_bus **bus);
    int (*bus_open_user)(struct sd_bus **bus);
    struct sd_bus *(*bus_close_unref)(struct sd_bus *bus);
    int (*bus_get_fd)(struct sd_bus *bus);
    int (*bus_get_events)(struct sd_bus *bus);
    int (*bus_process)(struct sd_bus *bus, struct sd_bus_message **message);
    int (*bus_send)(struct sd_bus *bus, struct sd_bus_message *message, uint64_t *cookie);

    int (*bus_message_new_method_call)(struct sd_bus *bus, struct sd_bus_message **message, const char *destination,
                                       const char *path, const char *interface, const char *member);
    int (*bus_message_new_method_return)(struct sd_bus_message *call, struct sd_bus_message **message);
    int (*bus_message_new_method_error)(struct sd_bus_message *call, struct sd_bus_message **message,
                                        const struct csystemd_error *error);
    struct sd_bus_message *(*bus_message_ref)(struct sd_bus_message *message);
    struct sd_bus_message *(*bus_message_unref)(struct sd_bus_message *message);
    int (*bus_message_set_auto_start)(struct sd_bus_message *message, int may_start);
    int (*bus_message_append_basic)(struct sd_bus_message *message, char type, const void *value);
    int (*bus_message_append_array)(struct sd_bus_message *message, char type, const void *items, size_t size);
    int (*bus_message_open_container)(struct sd_bus_message *message, char type, const char *contents);
    int (*bus_message_close_container)(struct sd_bus_message *message);

    int (*bus_message_get_type)(struct sd_bus_message *message, uint8_t *type);
    int (*bus_message_get_reply_cookie)(struct sd_bus_message *message, uint64_t *cookie);
    const char *(*bus_message_get_sender)(struct sd_bus_message *message);
    const char *(*bus_message_get_signature)(struct sd_bus_message *message, int complete);
    const char *(*bus_message_get_path)(struct sd_bus_message *message);
    const char *(*bus_message_get_interface)(struct sd_bus_message *message);
    const char *(*bus_message_get_member)(struct sd_bus_message *message);
    /// What it points to begins with the error's name.
    const char *const *(*bus_message_get_error)(struct sd_bus_message *message);
    int (*bus_message_peek_type)(struct sd_bus_message *message, char *type, const char **contents);
    int (*bus_message_read_basic)(struct sd_bus_message *message, char type, void *value);
    int (*bus_message_enter_container)(struct sd_bus_message *message, char type, const char *contents);
    int (*bus_message_exit_container)(struct sd_bus_message *message);
};

/// Loads libsystemd; one thread at a time. NULL if it is not installed, or lacks one of the functions.
const struct csystemd *csystemd_load(void);

#endif
