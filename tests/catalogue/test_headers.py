"""Our headers of CUDA's interface: they stand alone in C and C++, and say what NVIDIA's say where those are present."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import anywarp
from anywarp.catalogue.runtime import load

INCLUDE = Path(anywarp.__file__).parent / "toolchain" / "include"
HEADERS = ("cuda.h", "cudaProfiler.h", "cuda_runtime_api.h", "library_types.h", "cuda_profiler_api.h")
VIEWS = ((), ("-D__CUDA_API_VERSION_INTERNAL",), ("-DCUDA_API_PER_THREAD_DEFAULT_STREAM",))

needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def nvidia() -> dict[int, Path]:
    """The include directories of NVIDIA's toolkits, by major version: of nvcc's, and those that NVIDIA_INCLUDE names."""
    named = [Path(each) for each in os.environ.get("NVIDIA_INCLUDE", "").split(":") if each]
    versions = [
        re.search(r"#define CUDART_VERSION +(\d+)", (each / "cuda_runtime_api.h").read_text()) for each in named
    ]
    return {int(version[1]) // 1000: each for version, each in zip(versions, named, strict=True) if version} | of_nvcc()


def of_nvcc() -> dict[int, Path]:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return {}
    found = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    dry = subprocess.run([nvcc, "--dryrun", "-c", "x.cu"], capture_output=True, text=True, check=False)
    root = re.search(r"INCLUDES=\"-I(.+?)\"", dry.stdout + dry.stderr)
    major = re.search(r"release (\d+)\.", found)
    if root is None or major is None or int(major[1]) not in (12, 13):
        return {}
    return {int(major[1]): Path(root[1])}


def compiled(tmp_path: Path, source: str, include: Path, *flags: str) -> str:
    (tmp_path / "facts.c").write_text(source)
    command = ["gcc", "-w", f"-I{include}", *flags, "facts.c", "-o", "facts"]
    subprocess.run(command, check=True, cwd=tmp_path)
    return subprocess.run(["./facts"], check=True, cwd=tmp_path, capture_output=True, text=True).stdout


def facts_of(major: int) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Names of constants, of types, and fields of structs, that our headers define."""
    text = "".join(
        (INCLUDE / str(major) / name).read_text() for name in sorted(p.name for p in (INCLUDE / str(major)).glob("*.h"))
    )
    constants = re.findall(r"^  (\w+) = -?\d+U?,?$", text, re.MULTILINE)
    constants += re.findall(
        r"^#define (cuda[A-Z]\w+|CUDA_[A-Z_0-9]+|CU_[A-Z_0-9]+) [-(]?[0~x1-9].*$", text, re.MULTILINE
    )
    types: list[str] = []
    fields: list[tuple[str, str]] = []
    for match in re.finditer(
        r"^(typedef )?(struct|union) (\w+)\n\{\n(.*?)^\}(?: (\w+))?;", text, re.MULTILINE | re.DOTALL
    ):
        name = f"{match[2]} {match[3]}"
        types.append(name)
        for line in match[4].splitlines():
            field = re.match(r"  [^ {}].*?(\w+)(?:\[\w+\])*;$", line) or re.match(r"  \} (\w+)(?:\[\w+\])*;$", line)
            function = re.match(r"  \S.*\(\*(\w+)\)\(", line)
            if function or field:
                fields.append((name, (function or field)[1]))
    types += [f"struct {n}" for n in re.findall(r"^struct (?:__align__\(\d+\) )?(\w+) \{", text, re.MULTILINE)]
    types += re.findall(r"^typedef [^;({\n]*?\b(\w+);$", text, re.MULTILINE)
    types += re.findall(r"^\} (\w+);$", text, re.MULTILINE)
    return constants, types, fields


@needs_compiler
@pytest.mark.parametrize("major", [12, 13])
@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_headers_stand_alone(major, language):
    for header in HEADERS:
        for view in VIEWS:
            command = ["gcc", "-x", language, "-Wall", "-Werror", "-fsyntax-only", *view]
            subprocess.run([*command, f"-I{INCLUDE / str(major)}", "-include", header, "/dev/null"], check=True)


@needs_compiler
@pytest.mark.parametrize("major", [12, 13])
def test_every_function_of_the_table_is_declared(major, tmp_path):
    names = [row.name for row in load().rows if major in row.majors and "what it does" not in row.reason]
    kept = [n for n in names if not re.match(r"__cuda|cuda(Graphics|GL|EGL|VDPAU|EventCreateFromEGL)|cuda\w*VDPAU", n)]
    assert len(kept) > 380
    uses = "".join(f"(void)&{name};" for name in kept)
    source = f"#define __CUDA_API_VERSION_INTERNAL\n#include <cuda_runtime_api.h>\n#include <cuda_profiler_api.h>\nvoid f(void) {{ {uses} }}\n"
    (tmp_path / "uses.c").write_text(source)
    subprocess.run(["gcc", "-Werror", "-fsyntax-only", f"-I{INCLUDE / str(major)}", "uses.c"], check=True, cwd=tmp_path)


@needs_compiler
@pytest.mark.parametrize("major", [12, 13])
def test_what_the_runtime_manual_says_of_numbers_and_layouts(major, tmp_path):
    # The handle sizes and numbers that programs of any age rely on; cudaDeviceProp changed its layout with CUDA 12 and 13.
    source = """#include <cuda_runtime_api.h>
    #include <stdio.h>
    #include <stddef.h>
    int main(void) {
      printf("%d %d %d %d\\n", cudaErrorMemoryAllocation, cudaErrorNotSupported, cudaMemcpyDefault, cudaDevAttrWarpSize);
      printf("%zu %zu %zu\\n", sizeof(cudaIpcMemHandle_t), offsetof(struct cudaDeviceProp, totalGlobalMem), sizeof(struct float4));
      printf("%d\\n", CUDART_VERSION / 1000);
    }"""
    out = compiled(tmp_path, source, INCLUDE / str(major))
    assert out.split() == ["2", "801", "4", "10", "64", "288", "16", str(major)]


@needs_compiler
@pytest.mark.parametrize("major", [12, 13])
def test_sizes_offsets_and_values_are_nvidias(major, tmp_path):
    theirs = nvidia().get(major)
    if theirs is None:
        pytest.skip("no toolkit of NVIDIA's of this version here")
    compare(major, theirs, tmp_path)


def test_default_arguments_are_nvidias():
    for major, theirs in nvidia().items():
        compare_defaults(major, theirs)


def compare_defaults(major: int, theirs: Path) -> int:
    header = (theirs / "cuda_runtime_api.h").read_text(errors="replace")
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", header, flags=re.DOTALL)
    wanted: dict[str, int] = {}
    for name, rest in re.findall(r"\b(cuda\w+)\(([^;{}]*(?:__dv\(|=)[^;{}]*)\);", plain):
        wanted[name] = max(wanted.get(name, 0), rest.count("__dv(") + rest.count("="))
    text = (INCLUDE / str(major) / "cuda_runtime_api.h").read_text()
    ours = {name: rest.count("AW_DEFAULT(") for name, rest in re.findall(r"\b(cuda\w+)\(([^;]*)\);", text)}
    # What a macro leads to counts, in both headers: NVIDIA's names the parameters of `_v2` in the declaration before the macro's replacement.
    led = dict(re.findall(r"#define (cuda\w+) (cuda\w+_v\d+)$", text, flags=re.MULTILINE))
    assert len(wanted) > 40
    assert {name: ours.get(led.get(name, name)) for name in wanted} == wanted
    return len(wanted)


def compare(major: int, theirs: Path, tmp_path: Path) -> int:
    headers = [h for h in HEADERS if (theirs / h).exists()]
    words = set(re.findall(r"\w+", "".join(p.read_text(errors="replace") for p in theirs.glob("*.h"))))
    constants, types, fields = facts_of(major)
    lines = ["V(CUDART_VERSION);"]
    lines += [f"V({n});" for n in constants if n in words and n not in ("CUDART_VERSION", "CUDA_VERSION")]
    lines += [f"T({n});" for n in types if n.split()[-1] in words]
    lines += [f"F({n}, {f});" for n, f in fields if n.split()[-1] in words and f in words]
    includes = "".join(f"#include <{h}>\n" for h in headers)
    source = comparison(includes, lines)
    (tmp_path / "probe.c").write_text(source)
    probe = subprocess.run(
        ["gcc", "-w", f"-I{theirs}", "-fsyntax-only", "probe.c"], capture_output=True, text=True, cwd=tmp_path
    )
    # A toolkit some months older lacks a few of the fields, and its structs may be shorter.
    absent = {int(n) for n in re.findall(r"^probe\.c:(\d+):\d+: ", probe.stderr, re.MULTILINE)}
    kept = [
        line
        for number, line in enumerate(source.splitlines(), 1)
        if number not in absent or line[:2] not in ("V(", "T(", "F(")
    ]
    assert len(source.splitlines()) - len(kept) < 30
    ours = compiled(tmp_path, "\n".join(kept), INCLUDE / str(major)).splitlines()
    other = compiled(tmp_path, "\n".join(kept), theirs).splitlines()
    assert len(ours) > 2900
    changed = [f"{a} / {b}" for a, b in zip(ours, other, strict=True) if a != b]
    if ours[0] != other[0]:  # another minor version
        changed = [line for line in changed if not grown(line)]
    assert not changed, changed
    return len(ours)


def grown(line: str) -> bool:
    """Whether a difference is what a newer minor version may bring."""
    pattern = r"(?:struct |union )?(\S+) (\S+)(?: \d+)?$"
    one, other = (re.match(pattern, half) for half in line.split(" / "))
    assert one is not None and other is not None
    if re.search(r"(MAX|Max|Count|NUM_OPTIONS|LIGHTWEIGHT_FLAGS|_VERSION|\.reserved)$", one[1]):
        return True
    return "." not in one[1] and not line.startswith("cuda") and int(one[2]) >= int(other[2])


def comparison(includes: str, lines: list[str]) -> str:
    """A C program that prints what each of `lines` asks."""
    return f"""#define __CUDA_API_VERSION_INTERNAL
    {includes}
    #include <stdio.h>
    #include <stddef.h>
    #define V(n) printf(#n " %lld\\n", (long long)(n))
    #define T(n) printf(#n " %zu %zu\\n", sizeof(n), _Alignof(n))
    #define F(n, f) printf(#n "." #f " %zu %zu\\n", offsetof(n, f), sizeof(((n*)0)->f))
    int main(void) {{
{chr(10).join(lines)}
return 0; }}
"""
