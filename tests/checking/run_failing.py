"""Let one kernel of cases/failing.ptx fail, on pages that may not be touched: python run_failing.py CASES_FOLDER KERNEL."""

import ctypes
import mmap
import sys
from pathlib import Path

from driver import Driver


def main():
    d = Driver()
    function = d.function(d.module(Path(sys.argv[1]) / "failing.ptx"), sys.argv[2])
    pages = mmap.mmap(-1, 1 << 16)
    gone, here = ctypes.c_uint64(ctypes.addressof(ctypes.c_char.from_buffer(pages))), d.upload(bytes(256))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(gone.value), ctypes.c_size_t(1 << 16), 0) == 0
    arguments = {
        "reads_nothing": [gone, here],
        "writes_nothing": [gone, ctypes.c_int32(2)],
        "traps": [here],
        "waits": [here],
    }[sys.argv[2]]
    d.launch(function, (1,), (64,), arguments)
    print(d.cuda.cuCtxSynchronize())


if __name__ == "__main__":
    main()
