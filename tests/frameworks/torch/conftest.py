"""Every test file in this folder may `import torch` at its top and use `cuda`: the stand-in is in force in the process that runs it.

That is the pytest process when it is asked for tests of this folder only; else a child pytest of it (forward.py says why). Only the
process is changed, not its environment: a test of what users start, or of child processes, takes the fixture `under_anywarp`,
which runs Python by `anywarp run`. The stand-in is the one that scripts/build made, or ANYWARP_TORCH_LIBRARY.
Without torch, or with a CUDA build of it, the files are skipped; with a torch that should be served and is not, they fail.
"""

import importlib.util
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from anywarp import settings
from anywarp.frameworks.torch import binary, build, found, hook, load
from frameworks.torch import forward


def unavailable():
    """Return why there is nothing to test here, "" when there is; AssertionError when there should be and is not."""
    spec = importlib.util.find_spec("torch")
    if spec is None:
        return "this machine has no torch"
    torch = found.read(Path(spec.origin).parent)
    if torch.vendor:
        return f"torch is a {torch.vendor} build"
    shipped = settings.LIBRARY_DIR.get() / "torch" / torch.version / build.NAME
    chosen = settings.TORCH_LIBRARY.get() or shipped
    built = binary.built_for(chosen)
    assert built == torch.identity, f"{chosen} is for torch {built}, not {torch.identity}: run scripts/build"
    return ""


def load_torch():
    """Import torch under the stand-in; AssertionError when something has imported it without."""
    assert "torch" not in sys.modules or load.library is not None, "something has imported torch before these tests"
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    os.environ.setdefault(
        "TORCHINDUCTOR_COMPILE_THREADS", "1"
    )  # else it starts processes that import torch, to compile one kernel each
    hook.install()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, while it is imported
        import torch
    assert load.library is not None and torch.cuda.is_available(), "torch was imported without the stand-in"


REASON = PROBLEM = ""
"""Why the files are skipped; why they fail."""

forwards = False


def pytest_configure(config):
    """Decide where the tests run, before anything here is collected."""
    global REASON, PROBLEM, forwards
    places = [Path(config.invocation_params.dir, each.partition("::")[0]).resolve() for each in config.args]
    try:
        REASON = unavailable()
        forwards = not REASON and not all(each.is_relative_to(forward.HERE) for each in places)
        if not REASON and not forwards:
            load_torch()
    except Exception as error:  # shown for every file, instead of ending the whole run
        PROBLEM = f"{type(error).__name__}: {error}"
    if forward.ENDS in os.environ:
        config.pluginmanager.register(forward.Reporter())


def pytest_unconfigure():
    forward.CHILD.stop()


class NotToBeRun(pytest.Module):
    """A test file that is skipped, or fails, unseen."""

    def collect(self):
        if PROBLEM:
            raise self.CollectError(PROBLEM)
        pytest.skip(REASON, allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    if REASON or PROBLEM:
        return NotToBeRun.from_parent(parent, path=module_path)
    return forward.ForwardedFile.from_parent(parent, path=module_path) if forwards else None


@pytest.fixture
def under_anywarp():
    """Run Python by `anywarp run`: `under_anywarp("-c", code)`; options of subprocess.run, `env` added to the environment."""

    def start(*arguments, env=None, timeout=120, **options):
        command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, *map(str, arguments)]
        environment = {"OMP_NUM_THREADS": "1", **os.environ, **(env or {})}
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment, **options)

    return start
