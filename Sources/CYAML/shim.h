// libyaml for Swift: its parser, which gives one event at a time.
#include <yaml.h>
