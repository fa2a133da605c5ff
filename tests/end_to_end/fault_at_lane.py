"""Let thread N of a block be the first to touch a page that may not be touched; print the status and whether the process works on.

python fault_at_lane.py N
"""

import ctypes
import mmap
import sys

from load_image import GOOD, launch, load


def main():
    lane = int(sys.argv[1])
    cuda, libc = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(None, use_errno=True)
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    border = start + mmap.PAGESIZE
    assert libc.mprotect(ctypes.c_void_p(border), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    status, module, _ = load(cuda, GOOD)
    assert status == 0
    print(launch(cuda, module, "fill", border - 4 * lane), cuda.cuCtxSynchronize(), hex(border))


if __name__ == "__main__":
    main()
