"""Run the chapters named (all without names) with one version of the runtime: `python -m native.cudart.run MAJOR [CHAPTER ...]`."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import native.cudart
from native.cudart.library import Runtime


def chapters() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(native.cudart.__path__) if m.name.startswith("chapter_"))


def main(major: str, *wanted: str) -> int:
    runtime = Runtime(int(major))
    failed = 0
    for name in wanted or chapters():
        module = importlib.import_module(f"native.cudart.{name}")
        for step in [f for n, f in vars(module).items() if n.startswith("check_")]:
            runtime.raw("cudaGetLastError")()
            try:
                step(runtime)
            except Exception as error:  # the rest is worth knowing too
                failed += 1
                place = error.__traceback__
                while place.tb_next and f"{name}.py" not in place.tb_frame.f_code.co_filename:
                    place = place.tb_next
                print(f"{name}.{step.__name__}:{place.tb_lineno}: {type(error).__name__}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
