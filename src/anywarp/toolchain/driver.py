"""`anywarp nvcc`: from a command line as nvcc takes it to files.

Each input becomes an object; what is made of the objects is the last step. Temporary files lie in one folder that goes with us.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from anywarp import settings
from anywarp.toolchain import (
    codes,
    compile_commands,
    core_libraries,
    cuda_home,
    device_link,
    fatbin,
    half_subnormals,
    link_commands,
    managed,
    messages,
    shown,
    unused_templates,
)
from anywarp.toolchain.about import answer
from anywarp.toolchain.architectures import chosen
from anywarp.toolchain.compile_commands import Unit, language
from anywarp.toolchain.options import CommandLine, parse
from anywarp.toolchain.private_names import settled
from anywarp.toolchain.steps import Runner, Spent, StepFailed

OBJECTS = (".o", ".obj", ".a", ".so", ".lo")
_ROUNDS = 16
"""How often a file is compiled at most: clang ends after twenty errors."""
_ATOMICS = re.compile(r"error: [^\n]*(?:in namespace 'cuda'|identifier 'cuda')")
_SUFFIX = {"ptx": ".ptx", "cubin": ".cubin", "fatbin": ".fatbin", "object": ".o"}


@dataclass(frozen=True, slots=True)
class Job:
    """A compilation: the command line, how steps are run, where intermediate files go, and what is made of each source."""

    line: CommandLine
    runner: Runner
    folder: Path
    goal: str

    @property
    def relocatable(self) -> bool:
        """Tell whether device code is linked across objects."""
        return self.line.truth("relocatable-device-code", self.line.flag("device-c")) and not self.line.flag("device-w")


def run(arguments: Sequence[str]) -> int:
    """Do what a command line of nvcc asks for and return the exit code. AnywarpError for what it cannot ask for."""
    before, behind = settings.NVCC_PREPEND_FLAGS.get(), settings.NVCC_APPEND_FLAGS.get()
    line = parse([*shlex.split(before), *arguments, *shlex.split(behind)])
    told = answer(line)
    if told is not None:
        print(told)
        return 0
    if not line.inputs:
        raise codes.problem(codes.NO_INPUT, "there is no input", "name a .cu file")
    runner = Runner(line.flag("verbose"), line.flag("dryrun"))
    try:
        with tempfile.TemporaryDirectory(prefix="anywarp-nvcc-") as temporary:
            kept = line.flag("keep") or line.flag("save-temps") or line.flag("keep-dir")
            folder = Path(line.last("keep-dir") or ".") if kept else Path(temporary)
            return _work(Job(line, runner, folder, _goal(line)))
    except StepFailed as failure:
        return failure.status
    finally:
        if line.flag("time"):
            _write_times(Path(line.last("time")), runner.times)


def _goal(line: CommandLine) -> str:
    """Return what the command line ends with: the first of nvcc's phases that is asked for."""
    names = {
        "preprocess": "preprocess", "generate-dependencies": "dependencies", "generate-nonsystem-dependencies": "dependencies",
        "fdevice-syntax-only": "ptx", "ptx": "ptx", "cubin": "cubin", "fatbin": "fatbin", "compile": "object", "device-c": "object",
        "device-w": "object", "device-link": "device-link", "lib": "library",
    }  # fmt: skip
    return next((goal for name, goal in names.items() if line.flag(name)), "program")


def _work(job: Job) -> int:
    line = job.line
    _describe(job)
    sources = [name for name in line.inputs if not name.endswith(OBJECTS)]
    final = job.goal in ("program", "library", "device-link")
    if line.last("output-file") and len(sources) > 1 and not final:
        raise codes.problem(
            codes.BAD_OPTION, "one output for several inputs", "leave -o out, or compile them one by one"
        )
    outputs = {name: _output(job, name, final) for name in sources}
    asked = line.last("threads", "1")
    threads = int(asked) if asked.isdecimal() else 1
    with ThreadPoolExecutor(threads or settings.cpu_count()) as pool:
        for done in [pool.submit(_source, job, name, outputs[name]) for name in sources]:
            done.result()
    if not final:
        return 0
    objects = [str(outputs.get(name, name)) for name in line.inputs]
    return _finish(job, objects)


def _output(job: Job, source: str, intermediate: bool) -> str:
    """Return where what is made of a source goes; empty: to standard output."""
    stem = Path(source).stem
    if intermediate:
        return str(job.folder / f"{stem}-{abs(hash(source)) % 10**8}.o")
    asked = job.line.last("output-file")
    if asked:
        return asked
    if job.goal not in _SUFFIX:
        return ""
    return str(Path(job.line.last("output-directory") or ".") / (stem + _SUFFIX[job.goal]))


def _source(job: Job, source: str, output: str) -> None:
    kind = language(job.line, source)
    if source.endswith(".ptx") and not kind:
        _from_ptx(job, source, output)
    elif kind == "cu":
        texts = {} if job.runner.dry else shown.first(source, _folders(job.line))
        _cuda(job, Unit(source, chosen(job.line), job.relocatable), texts, output)
    elif kind in ("c", "c++"):
        _plain(job, source, kind, output)
    else:
        raise codes.problem(
            codes.NO_INPUT, f"{source}: no kind of file that can be compiled", "give its language with -x cu"
        )


def _folders(line: CommandLine) -> list[str]:
    return [*line.all("include-path"), *line.all("system-include")]


def _from_ptx(job: Job, source: str, output: str) -> None:
    if job.goal not in ("fatbin", "cubin"):
        raise codes.problem(codes.NO_INPUT, f"{source}: PTX becomes -fatbin or -cubin only", "ask for one of them")
    if job.goal == "fatbin":
        _pack(job, source, [source], output)
    else:
        job.runner.run("copy", source, ["cp", source, output])


def _cuda(job: Job, unit: Unit, texts: shown.Texts, output: str) -> None:
    """Compile a file of CUDA C++ to what is asked for; `texts` is what clang is to see in the place of files."""
    line, runner = job.line, job.runner
    unit = _seeing(job, unit, texts)
    if job.goal in ("preprocess", "dependencies"):
        action = ["-E"] if job.goal == "preprocess" else [_dependencies(line), *_rule(line, output)]
        runner.run(job.goal, unit.source, compile_commands.host(line, unit, None, action, output or None))
        return
    if job.goal in ("ptx", "cubin"):
        _device(job, unit, texts, "/dev/null" if line.flag("fdevice-syntax-only") else output)
        return
    stem = job.folder / f"{Path(unit.source).stem}-{unit.identity}"
    ptx, packed = f"{stem}.ptx", output if job.goal == "fatbin" else f"{stem}.fatbin"
    unit, texts = _device(job, unit, texts, ptx)
    _pack(job, unit.source, [ptx], packed)
    if job.goal != "fatbin":
        unit = _host(job, unit, texts, packed, output)
        managed.compile_again(runner, line, unit, ptx, output, f"{stem}.ll")


def _host(job: Job, unit: Unit, texts: shown.Texts, packed: str, output: str) -> Unit:
    """Compile the host's half to an object, without the bodies of kernels where clang refuses it with them; return the unit as clang took it."""
    action = ["-c", *_written_rule(job.line, unit.source, output)]
    status, said = 0, ""
    for _ in range(_ROUNDS):
        command = [*compile_commands.host(job.line, unit, packed, action, output), *_coloured()]
        status, said = job.runner.attempt("host", unit.source, command)
        if not status:
            return unit
        seen = shown.host(said, texts)
        if seen is None:
            break
        texts, unit = seen, _seeing(job, unit, seen)
    sys.stderr.write(said)
    raise StepFailed(status)


def _coloured() -> list[str]:
    return ["-fcolor-diagnostics"] if sys.stderr.isatty() else []


def _seeing(job: Job, unit: Unit, texts: shown.Texts) -> Unit:
    folder = job.folder / f"shown-{Path(unit.source).stem}-{unit.identity}"
    return replace(unit, overlay=shown.overlay(texts, folder))


def _device(job: Job, unit: Unit, texts: shown.Texts, ptx: str) -> tuple[Unit, shown.Texts]:
    """Compile the device's half to PTX; return the unit as clang took it, and what it saw.

    AnywarpError (T009), behind clang's messages, where it lacked headers of CCCL.
    """
    command = compile_commands.device(job.line, unit, ptx)
    try:
        unit, texts = _device_mended(job, unit, texts, ptx)
    except StepFailed:
        missing = core_libraries.missing(command)
        if missing is None:
            raise
        raise codes.problem(
            codes.CORE_LIBRARIES,
            f"{missing} belongs to NVIDIA's CUDA C++ Core Libraries (Thrust, CUB, libcu++), which are not here",
            "python -m pip install nvidia-cuda-cccl, or name their folder by -I or ANYWARP_CCCL",
        ) from None
    flushes = compile_commands.flushes(job.line)
    if (unit.relocatable or flushes) and not job.runner.dry and Path(ptx).is_file():
        text = Path(ptx).read_text(encoding="utf-8")
        text = settled(text) if unit.relocatable else text
        Path(ptx).write_text(half_subnormals.kept(text) if flushes else text, encoding="utf-8")
    return unit, texts


def _device_mended(job: Job, unit: Unit, texts: shown.Texts, ptx: str) -> tuple[Unit, shown.Texts]:
    """Compile the device's half, again where clang refuses what nvcc takes and we can show it otherwise; return what the host is to have and see."""
    whole: tuple[Unit, shown.Texts, str] | None = None  # with all bodies of templates, and what clang said of it
    status, said = 0, ""
    for _ in range(_ROUNDS):
        command = compile_commands.device(job.line, unit, ptx)
        status, said = job.runner.attempt("device", unit.source, [*command, *_coloured()])
        if not status and whole:
            return replace(whole[0], groups_with_atomics=unit.groups_with_atomics), whole[1]
        if not status:
            return unit, texts
        seen = shown.after(said, texts)
        if seen is None and _ATOMICS.search(messages.plain(said)) and not unit.groups_with_atomics:
            unit = replace(unit, groups_with_atomics=True)
            continue
        if seen is None:
            whole = whole or (unit, texts, said)
            seen = shown.without_templates(said, texts)
        if seen is None or unused_templates.MARK in said:
            break
        texts, unit = seen, _seeing(job, unit, seen)
    sys.stderr.write(whole[2] if whole and unused_templates.MARK in said else said)
    raise StepFailed(status)


def _pack(job: Job, source: str, texts: list[str], output: str) -> None:
    command = settings.python_command(sys.executable, "anywarp.toolchain.fatbin", output, *texts)

    def action() -> None:
        Path(output).write_bytes(fatbin.pack([Path(text).read_bytes() for text in texts]))

    job.runner.do("fatbinary", source, command, action)


def _plain(job: Job, source: str, kind: str, output: str) -> None:
    """Compile a file of C or C++ with the host's compiler."""
    line = job.line
    compiler = link_commands.host_compiler(line, kind)
    words = [] if not line.flag("x") else ["-x", kind]
    if job.goal == "preprocess":
        action = [*words, "-E"]
    elif job.goal == "dependencies":
        action = [*words, _dependencies(line), *_rule(line, output)]
    elif job.goal in ("object", "program", "library"):
        action = [*words, "-c", *_written_rule(line, source, output)]
    else:
        raise codes.problem(codes.NO_INPUT, f"{source}: there is no device code in {kind}", "name it .cu, or use -x cu")
    job.runner.run("host", source, compile_commands.plain(line, compiler, source, action, output or None))


def _dependencies(line: CommandLine) -> str:
    return "-M" if line.flag("generate-dependencies") else "-MM"


def _rule(line: CommandLine, target: str) -> list[str]:
    words = ["-MP"] if line.flag("generate-dependency-targets") else []
    words += (
        ["-MT", line.last("dependency-target-name") or target] if line.flag("dependency-target-name") or target else []
    )
    return words


def _written_rule(line: CommandLine, source: str, output: str) -> list[str]:
    """Return the options that write a rule for make beside the object."""
    if line.flag("generate-dependencies-with-compile"):
        kind = "-MD"
    elif line.flag("generate-nonsystem-dependencies-with-compile"):
        kind = "-MMD"
    else:
        return []
    file = line.last("dependency-output") or str(Path(output).with_suffix(".d"))
    return [kind, "-MF", file, *_rule(line, output)]


def _finish(job: Job, objects: list[str]) -> int:
    """Make the program, library or archive of the objects."""
    line, runner = job.line, job.runner
    if job.goal == "library":
        output = line.last("output-file", "a.a")
        Path(output).unlink(missing_ok=True)
        runner.run("archive", output, link_commands.archive(line, objects, output))
        return 0
    if job.goal == "device-link":
        device_link.link(runner, line, objects, line.last("output-file", "a_dlink.o"), job.folder)
        return 0
    output = line.last("output-file", "a.out")
    linked = str(job.folder / f"{Path(output).stem}_dlink.o")
    wanted = not line.flag("no-device-link") and not line.flag("relocatable-link")
    if (
        wanted
        and device_link.needed(runner, objects, line)
        and device_link.link(runner, line, objects, linked, job.folder)
    ):
        objects = [linked, *objects]
    runner.run("link", output, link_commands.program(line, objects, output))
    if not line.flag("run") or line.flag("dryrun"):
        return 0
    return subprocess.run([str(Path(output).absolute()), *line.all("run-args")], check=False).returncode


def _describe(job: Job) -> None:
    """Say, where commands are shown, what nvcc says of its surroundings: CMake reads it, and the architecture as its compiler is given it."""
    runner = job.runner
    if not (runner.show or runner.dry):
        return
    runner.say(f"_ARCHITECTURE_=-arch compute_{chosen(job.line).number}")
    home = cuda_home.folder()
    runner.say(f"TOP={home}")
    runner.say(f"PATH={home / 'bin'}:{settings.environment().get('PATH', '')}")
    runner.say(f'INCLUDES="-I{home / "include"}"')
    if core_libraries.folder() is not None:
        runner.say(f'SYSTEM_INCLUDES="-isystem" "{home / "include/cccl"}"')  # as nvcc 13 says it
    runner.say(f"LIBRARIES=  {' '.join(cuda_home.library_options())}")


def _write_times(file: Path, times: list[Spent]) -> None:
    """Write one line for each step, in nvcc's columns as far as they mean something here."""
    rows = ["source file name , phase name , metric , unit"]
    rows += [f"{t.source} , {t.phase} , {(t.end - t.start) * 1e3:.4f} , ms" for t in times]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
