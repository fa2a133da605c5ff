"""Small calls of CUDA's libraries through our forwarders and ROCm's own libraries, on an emulated card, held against numpy."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from amd_stack import libraries, stack

pytestmark = [pytest.mark.amd_stack, pytest.mark.long]
PROGRAM = Path(libraries.__file__)

OPEN = {
    "curand": "ends, and is right, but after five minutes",
    "cudnn": "Debian's MIOpen starts a clang by the path where it was built itself",
    "nccl": "Debian's RCCL wants HIP 5",
}
"""What cannot be seen here, and why."""

MOST = {"mean": 6.0, "cublasDgemm_v2": 1e-14, "cufftExecD2Z": 1e-14, "cusolverDnDpotrf": 1e-14}
"""How far off a result may be: sums of few numbers in double, in deviations for a mean, and in float32 for what is not named."""


def most(what):
    """Return how far off a result of this name may be; what has a comma or a colon counts mistakes."""
    if what.endswith("mean, in deviations"):
        return MOST["mean"]
    return MOST.get(what, 0.0 if what == "Sobol" or ":" in what or "," in what else 2e-6)


@pytest.mark.parametrize("name", sorted(set(libraries.CASES) - set(OPEN)))
def test_a_library_computes_as_numpy_does(name):
    if not (stack.PLACE / "debian/usr/lib/x86_64-linux-gnu/libhipblas.so.2").exists():
        pytest.skip("ROCm's libraries are not unpacked (AMD_STACK_LIBRARIES=1)")
    card = next((each for each in libraries.CARDS[name] if stack.emulated(each)), None)
    if card is None:
        pytest.skip(f"the emulator has none of {', '.join(libraries.CARDS[name])}")
    command = [sys.executable, "-m", "anywarp", "run", "--device", "hip", "--", sys.executable, PROGRAM, name]
    try:
        done = stack.run(command, card, limit=500)
    except subprocess.TimeoutExpired:
        pytest.fail("more than 500 s")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert "stopped" not in found, found["stopped"] + done.stderr
    assert found["worst"] and all(worst <= most(what) for what, worst in found["worst"].items()), found["worst"]
