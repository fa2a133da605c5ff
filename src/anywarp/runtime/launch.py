"""Starting a program so that it finds our libraries where it looks for NVIDIA's.

Everything travels in environment variables, so that child processes, whatever starts them, are served too.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

from anywarp import settings
from anywarp.devices import device as devices
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.runtime import overlay
from anywarp.runtime.build_id import build_id

DRIVER = "libcuda.so.1"
PTXAS = "ptxas"

PASSED_THROUGH = "cuda"
"""The device for which the program keeps NVIDIA's driver; a library of ours stands before it while it is traced."""

ROCM = "hip"
"""The device for which packages for ROCm, laid beside an environment (overlay.py), come before its own."""

PROFILER = "libcupti.so"
"""What Triton's profiler opens, in a folder that it is told."""

FORWARDER = "forward"
"""The folder, beside our libraries, of the libcuda.so.1 that passes calls on."""

SITE = Path(__file__).resolve().parent / "site"
"""The folder whose sitecustomize Python executes at its start, so that frameworks find what a CUDA build of them has."""

COMMANDS = Path(__file__).resolve().parent / "bin"
"""The folder with the commands that programs and scripts start: nvidia-smi, compute-sanitizer."""

COMPILERS = Path(__file__).resolve().parent / "toolkit/bin"
"""The folder with the compiler that build systems start, nvcc; last on the path, and only where there is no other and ours has its clang."""

SEARCH = "libanywarp_search.so"
"""What the loader asks where a library is (LD_AUDIT, native/rebind/search.cpp): for NVIDIA's it names ours, by whatever path or RPATH a client asks.

A process that asks for none of them loads none of them; it costs each about 0.2 ms of processor time.
"""

PRELOADED = (
    *("libnvJitLink.so.13", "libnvJitLink.so.12", "libcudart.so.13", "libcudart.so.12"),
    *("libnvrtc.so.13", "libnvrtc.so.12"),
)
"""What takes its place on machines where there is none (it speaks x86-64): libraries that some clients load from their own wheel by path.

cuda-pathfinder takes a library of that name that is already in the process before it looks into the wheels, and the loader
gives it to every library that needs the name, whatever RPATH that has.
"""

ASKED_FOR_PTX = {"CUPY_COMPILE_WITH_PTX": "1"}
"""Set where the user has not: CuPy then asks its compiler for PTX, not for machine code, which only NVIDIA's cards run."""

AUDITOR, TARGET = "libanywarp_audit.so", "libanywarp_rebind.so"
"""What redirects a CUDA runtime that a program carries statically: the loader's auditor, and the library that is redirected to."""

FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
"""Signals passed on to the program; the terminal itself sends SIGINT and SIGQUIT to the whole group."""


def environment(
    device: str, base: Mapping[str, str], report_dir: Path | None = None, pure: bool = False
) -> dict[str, str]:
    """Return `base` with what a program needs to run on `device`; `pure`: with our libraries only, no Python changed.

    AnywarpError: D001 for an unknown device, R023 for one that programs cannot run on, R020 when our libraries are not there,
    R024 when those of ANYWARP_REBIND are not.
    """
    if device == PASSED_THROUGH:
        return _passed_through(base, report_dir)
    libraries = settings.LIBRARY_DIR.get().resolve()
    own = folder_for(device)
    if not (own / DRIVER).exists():
        raise AnywarpError(
            Diagnostic("R020", f"{DRIVER} is not in {own}", help="in a checkout, build it with scripts/build")
        )
    overlays = (
        {}
        if pure or device != ROCM
        else {settings.OVERLAYS.name: str(overlay.environments(settings.CACHE_DIR.get().absolute()))}
    )
    # A build of PyTorch for ROCm answers torch.cuda itself: our stand-in is for the processor.
    pure = not overlays and (pure or own != libraries)
    changed = {
        "LD_LIBRARY_PATH": _before(str(own), _before(str(libraries), base.get("LD_LIBRARY_PATH", ""))),
        settings.DEVICE.name: device,
        settings.BUILD_ID.name: build_id(),
        settings.PYTHON.name: str(settings.PYTHON.get()),
        settings.CACHE_DIR.name: str(settings.CACHE_DIR.get().absolute()),
        settings.RUN.name: settings.RUN.get(base) or os.urandom(6).hex(),
        **overlays,
        **_python_path(base.get("PYTHONPATH", ""), pure),
        **_triton(libraries),
        **{name: value for name, value in ASKED_FOR_PTX.items() if name not in base},
        "PATH": _path(libraries, base),
        "NVTX_INJECTION64_PATH": base.get("NVTX_INJECTION64_PATH", str(libraries / "libnvToolsExt.so.1")),
    }
    preloaded: list[str] = []
    auditors: list[str] = []
    if (own / SEARCH).exists():
        auditors.append(str(own / SEARCH))
    elif not (libraries / SEARCH).exists():
        preloaded += [str(libraries / name) for name in PRELOADED if (libraries / name).exists()]
    if settings.REBIND.get(base):
        if not (libraries / AUDITOR).exists():
            raise AnywarpError(
                Diagnostic(
                    "R024", f"{AUDITOR} is not in {libraries}", help="leave --rebind out, or use an x86-64 build"
                )
            )
        preloaded.append(str(libraries / TARGET))
        auditors.append(str(libraries / AUDITOR))
    if auditors:
        changed["LD_AUDIT"] = _before(":".join(auditors), base.get("LD_AUDIT", ""))
    if preloaded:
        changed["LD_PRELOAD"] = _before(":".join(preloaded), base.get("LD_PRELOAD", ""))
    if report_dir is not None:
        changed[settings.REPORT_DIR.name] = str(report_dir)
    others = (settings.NVIDIA_DRIVER.name, *(() if overlays else (settings.OVERLAYS.name,)))
    return {name: value for name, value in {**base, **changed}.items() if name not in others}


def accelerated(device: str, base: Mapping[str, str]) -> dict[str, str]:
    """Return `base` for a program whose `cuda` is an accelerator of its own torch: nothing of ours but Python's door is put in place."""
    changed = {
        settings.DEVICE.name: device,
        settings.CACHE_DIR.name: str(settings.CACHE_DIR.get().absolute()),
        settings.RUN.name: settings.RUN.get(base) or os.urandom(6).hex(),
        **_python_path(base.get("PYTHONPATH", ""), pure=False),
    }
    return {name: value for name, value in {**base, **changed}.items() if name != settings.OVERLAYS.name}


def folder_for(device: str) -> Path:
    """Return the folder of the libraries that a device has for itself; AnywarpError (D001, D002, R023) when programs cannot run on it."""
    found = devices.find(device)
    if not isinstance(found, devices.Runs):
        others = (name for name in devices.names() if name != device)
        raise AnywarpError(
            Diagnostic(
                "R023",
                f"programs cannot run on the device {device!r}",
                help=f"it can only be compiled for; the installed devices besides it are: {', '.join(others) or 'none'}",
            )
        )
    return found.libraries(settings.LIBRARY_DIR.get().resolve())


def _passed_through(base: Mapping[str, str], report_dir: Path | None) -> dict[str, str]:
    """Return `base` for a program on NVIDIA's own driver, with our library before it where a trace is wanted.

    AnywarpError: D016 without such a driver, R020 without our library.
    """
    from anywarp.devices.cuda.driver import find_driver  # late: only this device needs it

    driver = find_driver(base)
    changed = {settings.NVIDIA_DRIVER.name: str(driver)}
    if report_dir is not None:
        changed[settings.REPORT_DIR.name] = str(report_dir)
    folder = settings.LIBRARY_DIR.get().resolve() / FORWARDER
    is_there = (folder / DRIVER).exists()
    if settings.TRACE_DIR.get(base) or (settings.COPIES_DIR.get(base) and is_there):
        if not is_there:
            raise AnywarpError(
                Diagnostic("R020", f"{DRIVER} is not in {folder}", help="leave --trace out, or use an x86-64 build")
            )
        changed["LD_LIBRARY_PATH"] = _before(str(folder), base.get("LD_LIBRARY_PATH", ""))
    return {**base, **changed}


def become(command: Sequence[str], env: Mapping[str, str]) -> None:
    """Replace this process by the command; returns only by raising AnywarpError (R021, R022)."""
    program = _found(command[0], env)
    try:
        os.execve(program, list(command), dict(env))
    except OSError as error:
        raise _not_started(command[0], error) from error


def watch(command: Sequence[str], env: Mapping[str, str], stdout: int | None = None) -> int:
    """Run the command to its end and return its exit code, 128 + n when signal n ended it.

    `stdout` is a file descriptor for its output, our own when None. Signals that reach us go to the command; an interrupt
    from the terminal reaches it anyway, and we wait for what it does.
    """
    program = _found(command[0], env)
    try:
        child = subprocess.Popen(list(command), executable=program, env=dict(env), stdout=stdout)
    except OSError as error:
        raise _not_started(command[0], error) from error
    with _signals_to(child):
        status = child.wait()
    return 128 - status if status < 0 else status


class _signals_to:
    """While in force, signals reach a child and do not end us."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self._saved: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}

    def __enter__(self) -> None:
        for number in FORWARDED:
            self._saved[number] = signal.signal(number, lambda n, _: self._child.send_signal(n))
        for number in (signal.SIGINT, signal.SIGQUIT):
            self._saved[number] = signal.signal(number, _leave_to_child)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._saved.items():
            signal.signal(number, handler)


def _leave_to_child(number: int, frame: FrameType | None) -> None:
    """Do nothing: the terminal has sent the same signal to the child."""


def _found(program: str, env: Mapping[str, str]) -> str:
    found = shutil.which(program, path=env.get("PATH", os.defpath))
    if found is not None:
        return found
    if os.path.isfile(program):
        raise _not_started(program, PermissionError(13, "it is not executable"))
    raise AnywarpError(
        Diagnostic("R021", f"there is no command {program!r}", help="check the spelling, or give its path")
    )


def _not_started(program: str, error: OSError) -> AnywarpError:
    return AnywarpError(
        Diagnostic(
            "R022",
            f"{program} cannot be started: {error.strerror or error}",
            help="check that it is a program for this machine; a script needs an interpreter line or its interpreter named",
        )
    )


def _before(first: str, rest: str) -> str:
    """Join two lists of paths, without repeating `first` when a nested run has put it there already."""
    others = [part for part in rest.split(":") if part and part not in first.split(":")]
    return ":".join([first, *others])


def _path(libraries: Path, base: Mapping[str, str]) -> str:
    """Return where commands are searched: nvidia-smi, ptxas, which XLA starts, what there was, and a compiler for who has none."""
    found = base.get("PATH", os.defpath)
    packaged = settings.CLANG.get(base) or importlib.util.find_spec("ziglang")
    if packaged and shutil.which("nvcc", path=found) is None:
        found = f"{found}:{COMPILERS}"
    return _before(str(COMMANDS), _before(str(libraries), found))


def _triton(libraries: Path) -> dict[str, str]:
    """Return what makes Triton link against our driver, start our ptxas, whose cubin is the PTX (native/ptxas), and profile by our CUPTI."""
    ptxas = libraries / PTXAS
    named = {name: str(ptxas) for name in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH") if ptxas.exists()}
    profiler = {"TRITON_CUPTI_LIB_PATH": str(libraries)} if (libraries / PROFILER).exists() else {}
    return {"TRITON_LIBCUDA_PATH": str(libraries), **named, **profiler}


def _python_path(before: str, pure: bool) -> dict[str, str]:
    """Return PYTHONPATH with our folder first, or without it; the rest stays to the letter (an empty part is the working directory)."""
    others = [part for part in before.split(":") if part != str(SITE)] if before else []
    parts = others if pure else [str(SITE), *others]
    return {"PYTHONPATH": ":".join(parts)} if parts or before else {}
