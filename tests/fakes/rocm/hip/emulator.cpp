// Launches that are executed: by another process, which maps the same memory at the same addresses.
#include "world.h"

namespace fake {

bool emulating() { return false; }
void emulate(const Launch&) {}

}  // namespace fake
