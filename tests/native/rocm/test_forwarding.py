"""Every forwarded function hands over what CUDA's manual and ROCm's headers say, argument by argument, and brings back the result."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp import settings
from anywarp.catalogue.generate_rocm import NATIVE, plan, written_by_hand
from anywarp.catalogue.rocm import load
from anywarp.catalogue.rocm_libraries import LIBRARIES, Replaced, Variant
from native.rocm.recorder import TABLES, build, source_of

# What differs between ROCm 6 and 7 is the same for both versions of CUDA, and little in most libraries.
CASES = [
    pytest.param(
        replaced,
        variant,
        runtime,
        id=f"{variant.soname}-rocm{runtime}",
        marks=[pytest.mark.long] if runtime == 6 and replaced.stem not in ("cublas", "nccl") else [],
    )
    for replaced in LIBRARIES.values()
    if (TABLES / f"{replaced.stem}.tsv").exists()
    for variant in replaced.variants
    for runtime in ((7, 6) if variant is replaced.variants[0] else (7,))
]
CHECKER = Path(__file__).with_name("check_forwarding.py")
CODES = ("not_initialized", "invalid_value", "not_supported", "internal")


def library_of(variant: Variant) -> Path:
    path = settings.LIBRARY_DIR.get() / "hip" / variant.soname
    if not path.exists():
        pytest.skip(f"{variant.soname} is not built")
    return path


def soname_of(replaced: Replaced, runtime: int) -> str:
    return next(name[2:] for name in replaced.target_sonames if name.startswith(f"{runtime}:"))


def forwarded(replaced: Replaced, variant: Variant) -> list[str]:
    library = load(replaced.stem)
    planned = plan(library, replaced, variant, written_by_hand(NATIVE / replaced.stem))
    return [entry.function.name for entry in planned if entry.route == "forward"]


@pytest.fixture(scope="module")
def recorders(tmp_path_factory):
    """Recording libraries of each version of ROCm, made when first asked for."""
    made: dict[tuple[str, int], Path] = {}

    def recorder(replaced: Replaced, runtime: int) -> Path:
        key = replaced.stem, runtime
        if key not in made:
            folder = tmp_path_factory.mktemp(f"rocm{runtime}_{replaced.stem}")
            build(folder, f"libamdhip64.so.{runtime}", "int fake_hip;")
            made[key] = build(folder, soname_of(replaced, runtime), source_of(replaced.stem, runtime))
        return made[key]

    return recorder


@pytest.mark.parametrize(("replaced", "variant", "runtime"), CASES)
def test_arguments_and_results_are_converted(replaced, variant, runtime, recorders, tmp_path):
    library = library_of(variant)
    names = forwarded(replaced, variant)
    (tmp_path / "names").write_text("\n".join(names))
    recorder = recorders(replaced, runtime)
    tables = load(replaced.stem)
    codes = ",".join(f"{what}={replaced.code(tables, what)}" for what in CODES)
    run = subprocess.run(
        [sys.executable, CHECKER, replaced.stem, library, str(variant.majors[0]), recorder, str(runtime), tmp_path / "names", codes],
        capture_output=True, text=True, timeout=120, env=os.environ | {"ANYWARP_ROCM_PATH": str(recorder.parent)},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    last = run.stdout.splitlines()[-1]
    functions, calls, problems = (int(number) for number in re.findall(r"\d+", last))
    assert problems == 0, run.stdout
    assert functions == len(names) and calls >= functions
