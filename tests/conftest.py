"""What all tests share: what this machine has decides which marked tests run, and no test touches the user's own cache.

`skips.py` holds that every skip has a job that runs the test; `spread.py` chooses what of many alike a plain run has.
"""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

import quick
from amd_stack import stack
from anywarp import settings
from anywarp.diagnostics import AnywarpError

pytest_plugins = ("skips", "spread", "compiled_once")
FAKES = Path(__file__).resolve().parent / "fakes"


def _hip_compiler():
    from anywarp.migrate.translate import hip_compiler

    try:
        return hip_compiler.find()
    except AnywarpError:
        return None


PRESENT = {
    "amd_emulator": lambda: (Path(os.environ.get("TINYGRAD", "/nowhere")) / "test/mockgpu/amd/emu.py").exists(),
    "amd_stack": lambda: bool(stack.instruction_sets()),
    "cuda": lambda: Path("/dev/nvidiactl").exists(),
    "hip": lambda: Path("/dev/kfd").exists(),
    "hip_compiler": lambda: _hip_compiler() is not None,
    "native": lambda: (settings.LIBRARY_DIR.get() / "libcuda.so.1").exists(),
    "numba": lambda: importlib.util.find_spec("numba_cuda") is not None,
    "nvcc": lambda: shutil.which("nvcc") is not None,
    "promtool": lambda: shutil.which("promtool") is not None,
    "tinygrad": lambda: importlib.util.find_spec("tinygrad") is not None,
    "torch": lambda: importlib.util.find_spec("torch") is not None,
}

REASONS = {
    "amd_emulator": "TINYGRAD names no work tree of tinygrad, whose emulator of AMD's instructions is needed",
    "amd_stack": "scripts/amd_stack has not built AMD's emulator of a card with HIP over it",
    "hip_compiler": "no compiler of HIP, or no headers of HIP 6 or newer (docs/translate-checking.md)",
}


def pytest_addoption(parser):
    parser.addoption(
        "--quick", action="store_true", help="run a choice of the tests in under two minutes (tests/quick.py)"
    )


def pytest_configure(config):
    if config.option.quick:
        config.pluginmanager.register(quick.Selection())


def pytest_collection_modifyitems(items):
    missing = {name for name, present in PRESENT.items() if not present()}
    for item in items:
        for name in missing & {mark.name for mark in item.iter_markers()}:
            item.add_marker(pytest.mark.skip(reason=REASONS.get(name, f"this machine has no {name}")))


def record_the_usual(cache):
    """Have the machine measured, with the usual choices found: what a kernel's key is must not hang on when a service was idle."""
    from native.by_hand import Handmade, build_id, container, device_identity

    record = container([("kind", "machine"), ("tuning", "-")], b"")
    Handmade(cache).put(f"machine\n{build_id()}\n{device_identity()}\n", record)


PRIVATE = ("ANYWARP_CACHE_DIR", "ANYWARP_RESULTS", "XDG_RUNTIME_DIR", "ANYWARP_SERVICE_IDLE", "ANYWARP_CCCL")


@pytest.fixture(scope="session", autouse=True)
def private_places(tmp_path_factory):
    """Point the cache and the service's socket at folders of this test run, for this process and its children."""
    saved = {name: os.environ.get(name) for name in PRIVATE}
    place = tmp_path_factory.mktemp("anywarp")
    (place / "run").mkdir(mode=0o700)
    os.environ["ANYWARP_CACHE_DIR"] = str(place / "cache")
    os.environ["ANYWARP_RESULTS"] = str(place / "results.sqlite")
    os.environ["XDG_RUNTIME_DIR"] = str(place / "run")
    os.environ["ANYWARP_SERVICE_IDLE"] = "10"
    os.environ["ANYWARP_CCCL"] = "none"  # whether a toolkit of NVIDIA's lies here changes no test
    if PRESENT["native"]():
        record_the_usual(place / "cache")
    yield
    for name, value in saved.items():
        os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
