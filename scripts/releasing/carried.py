"""What others wrote that stands in this tree (`native/third_party`) and, compiled, in every wheel: for the bill of materials."""

from __future__ import annotations

from typing import NamedTuple


class Carried(NamedTuple):
    """A folder of `native/third_party`, and the file of `native/licenses` with its terms."""

    folder: str
    license_file: str
    name: str
    authors: str
    terms: str
    library: str


CARRIED = (
    Carried("pocketfft", "pocketfft.txt", "pocketfft", "Martin Reinecke, Peter Bell and others", "BSD-3-Clause", "libcufft.so"),
    Carried("joe_kuo", "joe-kuo.txt", "direction numbers of Sobol' sequences", "Stephen Joe and Frances Kuo", "BSD-3-Clause", "libcurand.so"),
    Carried("mtgp", "mtgp.txt", "parameters of MTGP32", "Mutsuo Saito and Makoto Matsumoto", "BSD-3-Clause", "libcurand.so"),
)  # fmt: skip
