/* The second source, in C, by the name that the header had before CUDA 13. */
#include <nvToolsExt.h>

void elsewhere(void) {
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff00ff00;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "in C";
  nvtxMarkEx(&event);
}
