"""Clients of cuBLAS, cuDNN and their sisters from their published wheels, unmodified, in environments of their own, against the same work on the host.

`ANYWARP_CLIENTS` names a folder with one virtual environment per client (`scripts/ci.d/clients` makes them).
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp import settings

PROGRAMS = Path(__file__).parent / "libraries"
TRAINING = (
    "accelerate",
    "deepspeed",
    "diffusers",
    "flash_attention",
    "lightning",
    "megatron",
    "peft",
    "transformers",
    "trl",
)
LIVES_WITH = {
    "bitsandbytes": "torch",
    "faster_whisper": "ctranslate2",
    "jax_devices": "jax",
    "xformers": "torch",
} | dict.fromkeys(TRAINING, "training")
"""Whose environment a program runs in, where it is not of its own name."""
CARRY_THE_RUNTIME = {"catboost", "cupy", "ctranslate2", "faster_whisper"}
"""Their wheels carry NVIDIA's CUDA runtime statically; it is replaced where the user asks for it."""

LIMIT = 1500
"""Seconds. vLLM's four engines and DeepSpeed's compiled operators each took more than ten minutes on two cores with much other work."""

pytestmark = [pytest.mark.native, pytest.mark.slow, pytest.mark.timeout(LIMIT + 20)]


@pytest.mark.parametrize(
    "client", sorted(path.name.removesuffix("_program.py") for path in PROGRAMS.glob("*_program.py"))
)
def test_a_client_computes_what_the_host_does(client, private_places):
    folder = os.environ.get("ANYWARP_CLIENTS")
    python = Path(folder or "") / LIVES_WITH.get(client, client) / "bin/python"
    if not folder or not python.exists():
        pytest.skip(f"there is no environment of the client {client}")
    command = [sys.executable, "-m", "anywarp", "run", *(["--rebind"] if client in CARRY_THE_RUNTIME else []), "--"]
    program = [str(python), str(PROGRAMS / f"{client}_program.py")]
    ran = subprocess.run(
        [*command, *program],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=clean_environment(),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr[-3000:]
    assert "wrong: none" in ran.stdout


def clean_environment():
    """Nothing of the user's that would help: no path of NVIDIA's, no setting of a framework."""
    ours = {name for name in os.environ if name.startswith("ANYWARP_")}
    kept = {"PATH", "HOME", "TMPDIR", "LANG", "XDG_RUNTIME_DIR"} | ours
    return {name: value for name, value in os.environ.items() if name in kept} | {
        "PYTHONPATH": str(settings.__file__).rpartition("/anywarp/")[0]
    }
