// Making and ending contexts, and which is current on each thread.
#pragma once

#include "cuda/context.h"

namespace aw {

constexpr int kGreatestPriority = -5;

std::shared_ptr<Context> make_context(int device, unsigned flags, unsigned version);

// Waits for its work, then ends it with its streams, modules and memory. Its handle stays known as
// that of a destroyed one.
void destroy_context(const std::shared_ptr<Context>& context);

void push_context(std::shared_ptr<Context> context);
std::shared_ptr<Context> pop_context();
void drop_if_current(const Context& context);

// Throws NOT_PERMITTED on a thread that runs a callback of a stream.
void refuse_inside_callback();

// What a driver does of all this, beside the functions of Context that wait and fail (context.h).
void work_on_device(int device);  // when a context of it becomes current on this thread
void begin_streams(const std::shared_ptr<Context>& context);           // the default one
void end_streams_and_memory(const std::shared_ptr<Context>& context);  // all work is done

}  // namespace aw
