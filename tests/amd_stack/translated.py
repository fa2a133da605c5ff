"""Translate examples/cuda to HIP, compile it with Debian's clang, and run it over an emulated card, without anywarp: are the translated programs right?

python tests/amd_stack/translated.py [NAME...] [--card gfx942]... [--tree FOLDER] [--results FILE] [--page docs/translate-executed.md]

A tree of your own (--tree) needs one program per .cu file; the programs' own exit code says then whether they are right. What was built stays in --keep.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from amd_stack import stack
from amd_stack.programs import TWO_CARDS, Outcome, read, reason, write
from native.hip.programs import examples

RESULTS = Path(__file__).with_name("translated.json")
RELEASE = "6.4"  # of HIP in the stack
LIBRARIES = {"-lcuda": "-lamdhip64", "-lnvrtc": "-lhiprtc"}
WAVES = {"gfx1100": 32, "gfx1201": 32}


def compiler(card: str) -> list[str]:
    """Return the command that compiles HIP for this card with the stack's clang; HIP 6.4's headers ask for a macro that clang 22 lacks."""
    root = stack.PLACE / "debian"
    clang, bitcode = root / "usr/lib/llvm-22/bin/clang++", root / "usr/lib/llvm-21/lib/clang/21/amdgcn/bitcode"
    return [
        str(stack.PLACE / "inside"), str(clang), f"--sysroot={root}", "-x", "hip", f"--hip-path={root}/usr", f"--hip-device-lib-path={bitcode}",
        "-D__HIP_PLATFORM_AMD__", f"-D__AMDGCN_WAVEFRONT_SIZE={WAVES.get(card, 64)}", "-Wno-unused-value", f"--offload-arch={card}", "-O2",
    ]  # fmt: skip


def translate(tree: Path, card: str, target: Path) -> str:
    """Translate a tree for this card; return what was said."""
    command = [
        sys.executable,
        "-m",
        "anywarp",
        "translate",
        tree,
        "-o",
        target,
        "--target",
        f"hip:{card}",
        "--rocm",
        RELEASE,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def build(program: examples.Program, tree: Path, made: Path, card: str, target: Path) -> str:
    """Compile a translated program; return the compiler's words where it says no, else nothing."""

    def of(path: Path) -> str:
        return str(made / path.relative_to(tree))

    libraries = [LIBRARIES.get(option, option) for option in program.options if option.startswith("-l")]
    options = ["-fgpu-rdc"] if {"-dc", "-rdc=true", "--relocatable-device-code=true"} & set(program.options) else []
    if {"per-thread", "-default-stream=per-thread", "--default-stream=per-thread"} & set(program.options):
        options.append("-fgpu-default-stream=per-thread")
    linked = [f"-L{stack.PLACE}/debian/usr/lib/x86_64-linux-gnu", "-lamdhip64", *libraries, "-ldl", "-lpthread"]
    for library in program.libraries:
        command = [
            *compiler(card),
            "-std=c++17",
            "-shared",
            "-fPIC",
            of(library),
            "-o",
            str(target.parent / f"lib{library.stem}.so"),
            *linked,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr
    sources = [of(program.main), *map(of, program.sources)]
    command = [*compiler(card), "-std=c++17", *options, *sources, "-o", str(target), *linked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def run(program: examples.Program, target: Path, card: str, limit: float) -> Outcome:
    """Run a translated program over the card, without anywarp."""
    started = time.perf_counter()
    try:
        done = stack.run([target], card, 2 if program.name in TWO_CARDS else 1, limit=limit, **program.environment)
    except subprocess.TimeoutExpired:
        return Outcome("did not end", f"more than {limit:.0f} s", limit)
    words, seconds = done.stdout + done.stderr, round(time.perf_counter() - started, 1)
    if done.returncode == 0 and all(re.search(wanted, words, re.M) for wanted in program.expected):
        return Outcome("right", "", seconds)
    how = "died" if done.returncode < 0 or done.returncode > 128 else "wrong"
    return Outcome(how, reason(words, done.returncode), seconds)


def known_programs(tree: Path) -> dict[str, examples.Program]:
    """Return the programs of a tree: those of the examples, or each .cu file by itself."""
    if tree == examples.HERE:
        return examples.programs()
    return {path.stem: examples.Program(path.stem, path, "") for path in sorted(tree.rglob("*.cu"))}


def page(found: dict[str, dict[str, Outcome]], title: str, why: dict[str, str]) -> str:
    """Return the table of translated programs by card, and what the rest say."""
    cards = sorted({card for each in found.values() for card in each}, reverse=True)
    lines = [
        f"# {title}, translated to HIP and executed",
        "",
        f"`anywarp translate --rocm {RELEASE}` translated every program; Debian's clang 22 with HIP 6.4's headers and ROCm's device libraries compiled it (`-O2`), and it ran",
        "by itself, without anywarp, over HIP 6.4.3 and AMD's emulator of a card ([hip-stack.md](hip-stack.md)). Each program checks its own numbers. Nothing here ran on an",
        "AMD GPU. gfx942 has waves of 64 lanes, gfx1100 of 32. Made by `tests/amd_stack/translated.py`.",
        "",
        "| | " + " | ".join(cards) + " |",
        "| --- |" + " --- |" * len(cards),
    ]
    hows = [
        how
        for how in ("right", "not compiled", "wrong", "died", "did not end")
        if any(o.how == how for e in found.values() for o in e.values())
    ]
    for how in hows:
        lines.append(
            f"| {how} | "
            + " | ".join(str(sum(card in e and e[card].how == how for e in found.values())) for card in cards)
            + " |"
        )
    lines += ["", "| program | " + " | ".join(cards) + " |", "| --- |" + " --- |" * len(cards)]
    for name, each in sorted(found.items()):
        lines.append(
            f"| `{name}` | " + " | ".join(each[card].how if card in each else "not run" for card in cards) + " |"
        )
    lines += ["", "## What the rest say", ""]
    for name, each in sorted(found.items()):
        bad = {card: each[card] for card in cards if card in each and each[card].how != "right"}
        if bad:
            said = "; ".join(f"{card}: {o.how}, {o.said}" for card, o in bad.items())
            lines.append(f"- `{name}` ({why.get(name, 'not found out')}). {said}")
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Translate, build and run what the command line asks for."""
    from amd_stack.test_translated import WHY

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--card", action="append", help="gfx942 and gfx1100 unless named")
    parser.add_argument("--tree", type=Path, default=examples.HERE)
    parser.add_argument("--title", default="examples/cuda")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--only-page", action="store_true", help="run nothing")
    parser.add_argument("--only-build", action="store_true", help="run nothing, but build")
    parser.add_argument("--limit", type=float, default=200, metavar="SECONDS")
    arguments = parser.parse_args()
    tree, found = arguments.tree.resolve(), read(arguments.results)
    known = known_programs(tree)
    with tempfile.TemporaryDirectory() as temporary:
        place = (arguments.keep or Path(temporary)).resolve()
        for card in [] if arguments.only_page else arguments.card or ["gfx942", "gfx1100"]:
            made, built = place / card / "sources", place / card / "programs"
            if not made.exists():
                translate(tree, card, made)
            built.mkdir(parents=True, exist_ok=True)
            for name in arguments.names or known:
                program, target = known[name], built / name
                words = "" if target.exists() else build(program, tree, made, card, target)
                if words:
                    errors = (
                        re.findall(r"[^/\n]+: (?:fatal )?error: .*|(?<=ld.lld: error: ).*", words)
                        or words.splitlines()[-1:]
                    )
                    each = Outcome("not compiled", errors[0][:150], 0)
                elif arguments.only_build:
                    continue
                else:
                    each = run(program, target, card, arguments.limit)
                found.setdefault(name, {})[card] = each
                print(f"{name:22} {card:8} {each.how:12} {each.seconds:6.1f} s {each.said}", flush=True)
                write(arguments.results, found)
    if arguments.page:
        arguments.page.write_text(page(found, arguments.title, WHY))


if __name__ == "__main__":
    main()
