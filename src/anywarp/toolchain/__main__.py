"""`python -m anywarp.toolchain`: the compiler driver without the rest of the command line, which starts sooner."""

from __future__ import annotations

import sys

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.settings import SettingError
from anywarp.toolchain.driver import run


def main(arguments: list[str]) -> int:
    """Run the driver and return its exit code, 2 for what it refuses itself."""
    try:
        return run(arguments)
    except AnywarpError as error:
        print(error.diagnostic.as_text(), file=sys.stderr)
    except SettingError as error:
        print(Diagnostic("S001", str(error), help="docs/settings.md lists every variable").as_text(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
