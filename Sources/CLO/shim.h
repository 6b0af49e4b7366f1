// liblo for Swift: the reading of messages. What it gives as a union is wrapped here, because an argument may end
// before the union does, and need not be aligned as it is. So it is passed as a `void *`, which promises neither.
#ifndef CLO_SHIM_H
#define CLO_SHIM_H

#include <lo/lo.h>
#include <string.h>

/// The value of a numeric or boolean argument; 0 if it is none, and then `value` is left as it is.
static inline int clo_number(char type, const void *argument, double *value) {
    int32_t whole;
    int64_t wide;
    float single;
    switch (type) {
    case LO_INT32: memcpy(&whole, argument, sizeof whole); *value = whole; return 1;
    case LO_INT64: memcpy(&wide, argument, sizeof wide); *value = (double)wide; return 1;
    case LO_FLOAT: memcpy(&single, argument, sizeof single); *value = single; return 1;
    case LO_DOUBLE: memcpy(value, argument, sizeof *value); return 1;
    case LO_TRUE: *value = 1; return 1;
    case LO_FALSE: *value = 0; return 1;
    default: return 0;
    }
}

/// The text of an argument; NULL if it is none.
static inline const char *clo_text(char type, const void *argument) {
    return type == LO_STRING || type == LO_SYMBOL ? argument : NULL;
}

#endif
