"""The compile service under programs whose surroundings would break it: Python's path, limits, signals, full and foreign folders."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fakes.services import services
from native.test_service import PROGRAM, PTX

pytestmark = pytest.mark.native

HOSTILE = "raise SystemExit('a module of the program')\n"


@pytest.fixture
def place(tmp_path, same_compiler):
    """Return (run, folder): `run` executes statements in a program and then a kernel in it, with a cache and a socket of its own."""
    (tmp_path / "more").mkdir(mode=0o700)
    runtime = tempfile.TemporaryDirectory(prefix="aw")  # a test's own folder has too long a path for a socket
    (tmp_path / "run").symlink_to(runtime.name)
    image = Path(runtime.name) / "image.ptx"  # not within pytest's folder, which is root's alone
    image.write_text(PTX.replace("NAME", "stores77"))
    own = {"ANYWARP_CACHE_DIR": str(tmp_path / "cache"), "XDG_RUNTIME_DIR": runtime.name, "ANYWARP_SERVICE_IDLE": "60"}

    def run(before="", within=(), without=(), **more):
        environment = {name: value for name, value in {**os.environ, **own, **more}.items() if name not in without}
        program = [sys.executable, "-c", before + PROGRAM, str(Path("tests").absolute()), str(image), "stores77"]
        return subprocess.run([*within, *program], env=environment, capture_output=True, text=True, timeout=120)

    yield run, tmp_path
    for process in {*services(tmp_path), *services(runtime.name)}:
        with contextlib.suppress(ProcessLookupError):  # one that was about to end
            os.kill(process, signal.SIGKILL)
    runtime.cleanup()


def right(done):
    assert done.stdout.split() == ["0", "77"], done.stderr
    return done


MODULES = ("numpy", "selectors", "socket", "anywarp", "llvmlite", "argparse", "sitecustomize", "images")


@pytest.mark.parametrize("names", [MODULES, *(pytest.param([name], marks=pytest.mark.long) for name in MODULES)])
def test_modules_of_the_program_are_not_those_of_the_service(place, names):
    run, folder = place
    for name in names:
        (folder / "more" / f"{name}.py").write_text(HOSTILE)
    right(run(f"import os; os.environ['PYTHONPATH'] = {str(folder / 'more')!r}\n"))


VARIABLES = {
    "PYTHONHOME": "/nonexistent",
    "PYTHONSTARTUP": "/nonexistent",
    "PYTHONPLATLIBDIR": "nowhere",
    "PYTHONUTF8": "7",
    "PYTHONMALLOC": "nonsense",
    "PYTHONIOENCODING": "nonsense",
    "PYTHONWARNINGS": "error",
    "PYTHONHASHSEED": "nonsense",
    "LC_ALL": "tlh_QO.ISO-8859-15",
    "LD_PRELOAD": "/nonexistent.so",
    "LD_AUDIT": "/nonexistent.so",
    "HOME": "/nonexistent",
    "TMPDIR": "/nonexistent",
}


@pytest.mark.parametrize("names", [VARIABLES, *(pytest.param([name], marks=pytest.mark.long) for name in VARIABLES)])
def test_variables_of_the_program_are_not_those_of_the_service(place, names):
    run, _ = place
    chosen = {name: VARIABLES[name] for name in names}
    assert "nonexistent" not in right(run(f"import os; os.environ.update({chosen!r})\n")).stderr


def test_libraries_of_the_program_are_not_those_of_the_service(place):
    run, folder = place
    for name in ("libz.so.1", "libstdc++.so.6", "libffi.so.8", "libm.so.6", "libexpat.so.1"):
        (folder / "more" / name).write_text("no library")
    right(run(f"import os; os.environ['LD_LIBRARY_PATH'] = {str(folder / 'more')!r}\n"))


@pytest.mark.parametrize(
    "statement",
    [
        "resource.setrlimit(resource.RLIMIT_CPU, (600, 600))",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (24, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))",
        "resource.setrlimit(resource.RLIMIT_AS, (6 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))",
    ],
    ids=["CPU", "FSIZE", "NOFILE", "AS"],
)
def test_limits_of_the_program_are_not_those_of_the_service(place, statement):
    run, folder = place
    right(run(f"import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n{statement}\n"))
    [service] = services((folder / "run").resolve())
    limits = {
        line[:25].strip(): line[26:].split() for line in Path(f"/proc/{service}/limits").read_text().splitlines()[1:]
    }
    for name in ("Max cpu time", "Max file size", "Max address space", "Max open files"):
        assert limits[name][0] == limits[name][1], name
    assert len(list((folder / "cache").glob("objects/*/*"))) == 2


def test_processors_and_priority_of_the_program_are_not_those_of_the_service(place):
    run, folder = place
    right(
        run(
            "import os\n"
            "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
            "os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)); os.setpriority(os.PRIO_PROCESS, 0, 15)\n"
        )
    )
    [service] = services((folder / "run").resolve())
    assert os.sched_getaffinity(service) >= os.sched_getaffinity(0)
    assert os.sched_getscheduler(service) == os.SCHED_OTHER
    if os.geteuid() == 0:  # others may not raise it
        assert os.getpriority(os.PRIO_PROCESS, service) == 0


def test_signals_and_a_lost_folder_of_the_program_are_not_those_of_the_service(place):
    run, folder = place
    lost = folder / "more" / "lost"
    lost.mkdir()
    right(
        run(
            "import os, signal\n"
            f"os.chdir({str(lost)!r}); os.rmdir({str(lost)!r}); os.umask(0o777)\n"
            "for n in (signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP, signal.SIGUSR1): signal.signal(n, signal.SIG_IGN)\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
            "os.umask(0o022)\n"
        )
    )
    [service] = services((folder / "run").resolve())
    masks = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{service}/status").read_text().splitlines() if ":\t" in line
    )
    assert int(masks["SigBlk"], 16) == 0
    assert int(masks["SigIgn"], 16) & (1 << 16 | 1 << 14 | 1 << 0) == 0  # SIGCHLD, SIGTERM, SIGHUP


def mounted(options, *then):
    """Return a command that runs another where a small tmpfs lies over a folder; skips where nothing can be mounted."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("this user cannot mount")
    script = f'place=$1; shift; mount -t tmpfs -o {options} none "$place" || exit 77; {"".join(f"{line}; " for line in then)}exec "$@"'
    return ["unshare", "-m", "sh", "-c", script, "sh"]


FULL = "head -c 1000000 /dev/zero >$place/fill 2>/dev/null"


@pytest.mark.parametrize(
    ("options", "then"),
    [
        ("size=64k,mode=700", [FULL]),
        ("size=64k,mode=700", ["mkdir -m 700 $place/run", FULL]),
        ("nr_inodes=1,mode=700", []),
        ("nr_inodes=2,mode=700", ["mkdir -m 700 $place/run"]),
        ("size=64k,mode=700", ["mount -o remount,ro $place"]),
    ],
    ids=["full", "full after the first run", "no file", "no file after the first run", "read-only"],
)
def test_on_a_full_disk_programs_run_without_a_cache(place, options, then):
    run, folder = place
    disk = folder / "more"
    within = [*mounted(options, *then), str(disk)]
    done = run(within=within, without=("XDG_RUNTIME_DIR",), ANYWARP_CACHE_DIR=str(disk), TMPDIR=str(disk))
    if done.returncode == 77:
        pytest.skip("nothing can be mounted here")
    assert right(done).stderr.count("R001") == 1


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_cache_of_somebody_else_is_not_used(place):
    run, folder = place
    (folder / "cache").mkdir()
    os.chown(folder / "cache", 65534, 65534)
    done = right(run())
    assert done.stderr.count("is not used") == 1
    assert not list((folder / "cache").iterdir())


def test_a_program_without_a_home_runs(place):
    run, _ = place
    right(run(without=("HOME", "ANYWARP_CACHE_DIR", "XDG_CACHE_HOME"), XDG_CACHE_HOME=""))


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes somebody else")
def test_a_user_that_nobody_knows_runs(place):
    """As in a container that is started with a number for its user: no home, no name."""
    run, folder = place
    if not os.access(sys.executable, os.X_OK) or not _others_can_read(Path(sys.executable), Path("src"), Path("tests")):
        pytest.skip("other users cannot read this checkout")
    (folder / "run").resolve().chmod(0o755)
    before = "import os; os.setgid(54321); os.setuid(54321); os.environ['TMPDIR'] = '/nonexistent'\n"
    done = right(run(before, without=("HOME", "ANYWARP_CACHE_DIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")))
    assert done.stderr.count("R001") == 1


def _others_can_read(*paths):
    return all(
        part.stat().st_mode & 0o005 == 0o005 for path in paths for part in (path.resolve(), *path.resolve().parents)
    )
