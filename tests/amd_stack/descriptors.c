// A child of vfork closes its descriptors before it becomes another program, as Python's does; its
// parent goes on with the card.
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  void* hip = dlopen("libamdhip64.so.6", RTLD_NOW);
  int (*allocate)(void**, size_t) = (int (*)(void**, size_t))dlsym(hip, "hipMalloc");
  int (*fill)(void*, int, size_t) = (int (*)(void*, int, size_t))dlsym(hip, "hipMemset");
  int (*wait_for)(void) = (int (*)(void))dlsym(hip, "hipDeviceSynchronize");
  void* place;
  printf("%d", allocate(&place, 1 << 10));
  fflush(stdout);
  if (vfork() == 0) {
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    _exit(0);
  }
  printf(" %d", allocate(&place, 1 << 28));
  printf(" %d", fill(place, 7, 1 << 12));
  printf(" %d\n", wait_for());
  return 0;
}
