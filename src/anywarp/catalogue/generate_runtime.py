"""Write the C++ that follows from the table of runtime functions: exports, variants for per-thread streams, absent functions.

The build runs it (`python generate_runtime.py cudart.tsv DRIVER_TYPES OUTDIR MAJOR`, with the standard library only). A function
is written once, in `native/cudart`, as `aw::rt::NAME`; what it looks like from outside is made here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__" and not __package__:  # run as a file by the build, where nothing is installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from anywarp.catalogue.runtime import RuntimeRow, RuntimeTable, load

MADE = "// Made by anywarp/catalogue/generate_runtime.py; change the table instead.\n"

# They work without a context of the device, and do not make one (CUDA Runtime API, 'Initialization').
WITHOUT_CONTEXT = re.compile(
    r"__cuda|cuda(GetLastError|PeekAtLastError|GetError(Name|String)|(Driver|Runtime)GetVersion|GetDevice(Count|Flags|Properties\w*)?"
    r"|SetDevice(Flags)?|InitDevice|ChooseDevice|SetValidDevices|DeviceReset|ThreadExit|SetDoubleFor\w+|DeviceGetAttribute"
    r"|DeviceGet(ByPCIBusId|PCIBusId|P2PAttribute|Luid|Texture1DLinearMaxWidth|HostAtomicCapabilities|P2PAtomicCapabilities)"
    r"|DeviceCanAccessPeer|CreateChannelDesc|GetExportTable|Profiler(Start|Stop|Initialize)|Logs\w+|GetDriverEntryPoint\w*"
    r"|ThreadExchangeStreamCaptureMode|DeviceUnregisterAsyncNotification)$"
)
# They say what the last error was, so their own result does not become it.
UNDECLARED = re.compile(
    r"__cuda|cuda(GL|EGL|VDPAU|Graphics(GL|EGL|VDPAU|ResourceGetMappedEgl)|Event\w*EGL|Subgrid)|cuda\w*VDPAU"
)
"""What our headers do not declare, because other headers or none do; absent all of it."""
NO_ERROR_KEPT = ("cudaGetLastError", "cudaPeekAtLastError")


def base_of(name: str) -> tuple[str, bool]:
    """Return the function that does the work, and whether `name` is its variant for per-thread default streams."""
    base = re.sub(r"_pt[sd][sz]$", "", name)
    return base, base != name


def split(parameters: str) -> list[tuple[str, str]]:
    """Split a parameter list into (declaration, name)."""
    if parameters in ("void", ""):
        return []
    found: list[tuple[str, str]] = []
    for part in parameters.split(", "):
        match = re.search(r"(\w+)\s*(?:\[\w*\])?$", part)
        if match is None:
            raise ValueError(f"no name in {part!r}")
        found.append((part, match[1]))
    return found


def rows_of(table: RuntimeTable, major: int) -> list[RuntimeRow]:
    """Return what one major version exports."""
    return [row for row in table.rows if major in row.majors]


def declarations(table: RuntimeTable, major: int) -> str:
    """Return a header that declares what is to be implemented."""
    lines = [MADE + "#pragma once", "", "namespace aw::rt {"]
    for row in rows_of(table, major):
        if row.route == "custom" and not base_of(row.name)[1]:
            lines.append(f"{row.result} {row.name}({row.parameters(major)});")
    return "\n".join([*lines, "}  // namespace aw::rt", ""])


def definitions(table: RuntimeTable, major: int) -> str:
    """Return a C++ file that defines everything that is exported."""
    lines = [MADE + '#include "cudart/api.h"', "", '#pragma GCC diagnostic ignored "-Wunused-parameter"']
    lines += ["", "using namespace aw;", ""]
    for row in rows_of(table, major):
        lines.append(_absent(row, major) if row.route == "absent" else _wrapper(row, major))
    return "\n".join(lines) + "\n"


def _absent(row: RuntimeRow, major: int) -> str:
    returned = {"cudaError_t": "cudaErrorNotSupported", "char": "0"}
    body = f'report_absent("{row.name}", "{row.reason}");'
    if row.result == "cudaError_t":
        body += f" return kept({returned[row.result]});"
    elif row.result != "void":
        body += " return {};"
    parameters = "" if UNDECLARED.match(row.name) else ", ".join(d for d, _ in split(row.parameters(major)))
    return f'extern "C" AW_PUBLIC {row.result} {row.name}({parameters}) {{ {body} }}'


def _wrapper(row: RuntimeRow, major: int) -> str:
    base, per_thread = base_of(row.name)
    parameters = split(row.parameters(major))
    names = [name for _, name in parameters]
    head = f'extern "C" AW_PUBLIC {row.result} {row.name}({", ".join(d for d, _ in parameters)})'
    call = f"rt::{base}({', '.join(names)})"
    scope = "PerThreadStreams scope; " if per_thread else ""
    if row.result != "cudaError_t":
        return f'{head} {{ count_call<"{row.name}">(); {scope}return {call}; }}'
    needs = "nothing" if WITHOUT_CONTEXT.match(base) else "context"
    keeps = ", Keeps::nothing" if base in NO_ERROR_KEPT else ""
    arguments = "".join(f", {name}" for name in names)
    return (
        f'{head} {{\n  return api<"{row.name}", Needs::{needs}{keeps}>([&] {{ {scope}return {call}; }}{arguments});\n}}'
    )


def exports(table: RuntimeTable, major: int) -> str:
    """Return a linker version script with the symbol version that NVIDIA's library has."""
    names = "".join(f"    {row.name};\n" for row in rows_of(table, major))
    return f"libcudart.so.{major} {{\n  global:\n{names}  local:\n    *;\n}};\n"


def errors(header: str) -> str:
    """Return the codes and names of `enum cudaError` in a header of ours, in order of code, as C++ initialisers."""
    body = header.split("enum cudaError\n{", 1)[1].split("}", 1)[0]
    found = {int(code): name for name, code in re.findall(r"(cuda\w+) = (\d+)", body)}
    return MADE + "".join(f'{{{code}, "{found[code]}"}},\n' for code in sorted(found))


def main(arguments: Sequence[str]) -> int:
    """Run as a command: TABLE DRIVER_TYPES DIRECTORY MAJOR; returns the exit code."""
    if len(arguments) != 4:
        print("usage: generate_runtime.py TABLE DRIVER_TYPES DIRECTORY MAJOR", file=sys.stderr)
        return 2
    table, header, directory, major = (
        load(Path(arguments[0])),
        Path(arguments[1]),
        Path(arguments[2]),
        int(arguments[3]),
    )
    directory.mkdir(parents=True, exist_ok=True)
    files = {
        "cudart_functions.h": declarations(table, major),
        "cudart_exports.cpp": definitions(table, major),
        "cudart_exports.map": exports(table, major),
        "cudart_errors.inc": errors(header.read_text(encoding="utf-8")),
    }
    for name, content in files.items():
        (directory / name).write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
