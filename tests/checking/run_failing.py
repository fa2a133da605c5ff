"""Let one kernel of cases/failing.ptx fail: python run_failing.py CASES_FOLDER KERNEL. Memory that is freed is no longer there."""

import ctypes
import sys
from pathlib import Path

from driver import Driver


def main():
    d = Driver()
    function = d.function(d.module(Path(sys.argv[1]) / "failing.ptx"), sys.argv[2])
    gone, here = d.allocate(1 << 20), d.upload(bytes(256))
    d.free(gone)
    arguments = {
        "reads_nothing": [gone, here],
        "writes_nothing": [gone, ctypes.c_int32(2)],
        "traps": [here],
    }[sys.argv[2]]
    d.launch(function, (1,), (64,), arguments)
    print(d.cuda.cuCtxSynchronize())


if __name__ == "__main__":
    main()
