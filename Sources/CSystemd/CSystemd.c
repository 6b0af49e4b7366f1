#include "CSystemd.h"

#include <dlfcn.h>

static struct csystemd functions;

#define FIND(name) ((functions.name = dlsym(library, "sd_" #name)) != NULL)

const struct csystemd *csystemd_load(void) {
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return NULL;
    int all_found = FIND(bus_open_system) && FIND(bus_open_user) && FIND(bus_close_unref) && FIND(bus_get_fd)
        && FIND(bus_get_events) && FIND(bus_process) && FIND(bus_send) && FIND(bus_message_new_method_call)
        && FIND(bus_message_new_method_return) && FIND(bus_message_new_method_error) && FIND(bus_message_ref)
        && FIND(bus_message_unref) && FIND(bus_message_get_sender) && FIND(bus_message_get_signature)
        && FIND(bus_message_set_auto_start) && FIND(bus_message_append_basic) && FIND(bus_message_append_array)
        && FIND(bus_message_open_container) && FIND(bus_message_close_container) && FIND(bus_message_get_type)
        && FIND(bus_message_get_reply_cookie) && FIND(bus_message_get_path) && FIND(bus_message_get_interface)
        && FIND(bus_message_get_member) && FIND(bus_message_get_error) && FIND(bus_message_peek_type)
        && FIND(bus_message_read_basic) && FIND(bus_message_enter_container) && FIND(bus_message_exit_container);
    return all_found ? &functions : NULL;
}
