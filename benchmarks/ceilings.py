"""What the machine can do at most on one thread, measured beside the kernels: the time that a workload's bytes and operations take.

Ratios to native code say how good our code is; this says how much there is left for both.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

from workloads import Workload

SOURCE = Path(__file__).parent / "kernels" / "ceilings.c"


class Ceilings:
    """Rates of this machine's memory, by how much of it is used, and of its arithmetic."""

    def __init__(self) -> None:
        library = os.path.join(tempfile.mkdtemp(prefix="anywarp-bench-"), "ceilings.so")
        command = [
            os.environ.get("CC", "gcc"),
            "-O3",
            "-march=native",
            "-mprefer-vector-width=512",
            "-ffp-contract=fast",
        ]
        subprocess.run([*command, "-fPIC", "-shared", str(SOURCE), "-o", library], check=True)
        code = ctypes.CDLL(library)
        code.bytes_per_second.restype = code.flops_per_second.restype = ctypes.c_double
        self._bytes_per_second = code.bytes_per_second
        self._rates: dict[int, float] = {}
        self._flops_per_second = float(code.flops_per_second())

    def least_ms(self, work: Workload) -> float:
        """Return the time that the bytes and operations that a workload cannot do without take at least, in ms."""
        size = 1 << max(work.bytes, 1).bit_length()
        if work.bytes and size not in self._rates:
            self._rates[size] = float(self._bytes_per_second(ctypes.c_long(min(size, 1 << 28))))
        moved = work.bytes / self._rates[size] if work.bytes else 0.0
        return max(moved, work.flops / self._flops_per_second) * 1e3
