"""Call the kernel entries of bitsandbytes' CUDA library and print a line for each: `ok NAME` or `FAILED NAME what`.

anywarp run -- python tests/clients/bitsandbytes_calls.py LIBRARY [NAME...]
"""

import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bits import matrices, optimizers, quantise
from bits.library import Library

NEED_CUBLAS = ("get_context", "cigemm", "cbatched_igemm", "cigemmlt_32", "cigemmlt_8", "cigemmlt_8_rowscale")
"""Entries that hand their work to cuBLAS; the library's own kernels are not in them."""


def entries():
    """Return every check by the entry's name."""
    return quantise.entries() | matrices.entries() | optimizers.entries()


def main():
    library = Library(sys.argv[1])
    chosen = {name: checks for name, checks in entries().items() if not sys.argv[2:] or name in sys.argv[2:]}
    failed = 0
    for name, checks in chosen.items():
        try:
            for function, *arguments in checks:
                said = f"{function.__name__}{tuple(arguments)}"
                function(library, *arguments)
                library.close()
            print("ok", name, flush=True)
        except (AssertionError, RuntimeError) as error:
            failed += 1
            where = traceback.extract_tb(error.__traceback__)[-1].lineno
            print("FAILED", name, said, str(error).split("\n")[0], f"line {where}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
