#include "commit.h"

#define TEXT_OF(word) #word
#define TEXT(macro) TEXT_OF(macro)

const char *commit(void) {
#ifdef COMMIT
    return TEXT(COMMIT);
#else
    return "";
#endif
}
