"""Recordings that are carried with the tests are replayed: five kinds of models in three types, right, and with a layer that is wrong."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="this machine has no torch")
pytestmark = pytest.mark.torch

from anywarp.check.bundle import open_bundle  # noqa: E402
from anywarp.check.bundle.packing import pack  # noqa: E402
from check.record import recordings, zoo  # noqa: E402

ARCHIVE = Path(__file__).resolve().parents[2] / "cases" / "recordings.tar.xz"
PROGRAM = Path(zoo.__file__)
ALL = [(kind, dtype) for kind in zoo.KINDS for dtype in zoo.DTYPES]


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    place = tmp_path_factory.mktemp("recordings")
    with tarfile.open(ARCHIVE) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Debian 12's Python 3.11.2 has no filters
        archive.extractall(place)
    return place


def replayed(there, tmp_path, kind, dtype, change=lambda model: None):
    model = zoo.build(kind, dtype)
    change(model)
    return recordings.replay(there / f"{kind}-{dtype}", tmp_path / "here", lambda: zoo.run(model, kind, dtype))


@pytest.mark.parametrize("kind, dtype", ALL)
def test_a_recording_of_another_machine_is_verified_here(there, tmp_path, kind, dtype):
    report = replayed(there, tmp_path, kind, dtype)
    assert report.grade == "pass", (report.reason, report.cause)
    alone = [layer for layer in report.layers if layer.isolated is not None]
    leaves = [layer.isolated.bound for layer in alone if layer.operation.kind not in ("composite", "unknown")]
    assert len(leaves) >= 5 and "assumed" not in leaves, "leaves are held to derived bounds"


@pytest.mark.parametrize(
    "kind, dtype", [pytest.param(*each, marks=[] if each[1] == "float32" else [pytest.mark.long]) for each in ALL]
)
def test_a_wrong_layer_is_found_in_each_of_them(there, tmp_path, kind, dtype):
    report = replayed(there, tmp_path, kind, dtype, zoo.break_head)
    assert report.grade == "fail" and report.first is not None, report.reason
    assert report.first.name.endswith(".head") and report.cause is not None and report.cause.name == "scale"


def test_the_recordings_are_of_the_processor_and_hold_float64(there):
    assert sorted(path.name for path in there.iterdir()) == sorted("-".join(each) for each in ALL)
    for path in there.iterdir():
        with open_bundle(path) as bundle:
            assert bundle.manifest["device"]["type"] == "cpu" and bundle.precise and not bundle.notes
    assert ARCHIVE.stat().st_size < 400_000


@pytest.mark.native
@pytest.mark.long
@pytest.mark.parametrize("kind, dtype", [("decoder", "bfloat16"), ("diffusion", "float32")])
def test_they_are_verified_on_the_device_cpu(there, tmp_path, kind, dtype):
    pack(there / f"{kind}-{dtype}", tmp_path / "there.tar")

    def verified(*more):
        command = [
            sys.executable,
            "-m",
            "anywarp",
            "verify",
            tmp_path / "there.tar",
            "--",
            sys.executable,
            "-m",
            "anywarp",
        ]
        run = [*command, "run", "--", sys.executable, PROGRAM, kind, dtype, "cuda", *more]
        return subprocess.run(list(map(str, run)), capture_output=True, text=True, timeout=300)

    right, wrong = verified(), verified("broken")
    assert right.returncode == 0 and right.stdout.startswith("pass"), right.stdout + right.stderr
    assert wrong.returncode == 1 and ".head fails by itself" in wrong.stdout.splitlines()[0], wrong.stdout
