// libsndfile's types for Swift. The library itself is not linked but loaded when a recording is read, so that the gateway
// runs without it.
#include <sndfile.h>
