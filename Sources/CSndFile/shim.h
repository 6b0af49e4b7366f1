// libsndfile's types for Swift. The library itself is not linked, but loaded when a recording is read, so the gateway
// also runs without it.
#include <sndfile.h>
