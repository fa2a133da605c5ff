"""Managed variables: clang knows `__managed__` for another language only, so their uses by the host are rewritten in its IR.

Such a variable lives in device memory; the host reaches it through a pointer that the runtime library fills. In the IR each
function loads that pointer once, at its start, and uses it where the source names the variable.
"""

from __future__ import annotations

import re
from pathlib import Path

from anywarp.toolchain import clang as compilers
from anywarp.toolchain import codes, compile_commands, fatbin
from anywarp.toolchain.compile_commands import Unit
from anywarp.toolchain.options import CommandLine
from anywarp.toolchain.steps import Runner

SECTION = "anywarp_managed"
"""Where the headers put what stands for such a variable in the host's half; nothing of it is used when the program runs."""

_PLACEHOLDER = b"anywarp: here lies the device code of this file"
_NAME = r'@(?:"[^"]*"|[-\w.$]+)'
_DEFINITION = re.compile(rf'^({_NAME}) = (?P<kind>.*?)\b(?:global|constant) .*, section "{SECTION}"', re.MULTILINE)
_REGISTER = re.compile(
    rf"call void @__cudaRegisterVar\(ptr (%\w+), ptr ({_NAME}), ptr ({_NAME}), ptr {_NAME}, i32 \d+, i64 (\d+), .*\)"
)
_TEXT = re.compile(rf'^({_NAME}) = .*c"([^"]*)\\00"', re.MULTILINE)
_FUNCTION = re.compile(r"^define .*\{\n(?:[-\w.$]+:.*\n)?", re.MULTILINE)
_LABEL = re.compile(r"[^\w.$-]")


def compile_again(runner: Runner, line: CommandLine, unit: Unit, ptx: str, output: str, work: str) -> None:
    """Where the object `output` has managed variables, make it again with their uses rewritten; `work` is a name for the IR."""
    if runner.dry or SECTION.encode() not in Path(output).read_bytes():
        return
    placeholder = Path(work).with_suffix(".placeholder")
    placeholder.write_bytes(_PLACEHOLDER)
    action = ["-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]
    runner.run("host", unit.source, compile_commands.host(line, unit, str(placeholder), action, work))

    def rewrite() -> None:
        text = Path(work).read_text(encoding="utf-8")
        marked = mark(Path(ptx).read_text(encoding="utf-8"), device_names(text))
        changed = rewritten(text, unit.relocatable)
        packed = _escaped(fatbin.pack([marked.encode()]))
        size, bytes_ = len(_PLACEHOLDER), _PLACEHOLDER.decode()
        Path(work).write_text(changed.replace(f'[{size} x i8] c"{bytes_}"', packed), encoding="utf-8")

    runner.do("managed", unit.source, ["#", "uses of managed variables:", work], rewrite)
    clang = compilers.find()
    options = [*clang.options, f"--target={compilers.host_triple()}", "-x", "ir", "-c", work, "-o", output]
    wanted = compile_commands.code_generation(line)
    runner.run("host", unit.source, [*clang.command, *options, *wanted])


def names(text: str) -> list[str]:
    """Return the managed variables of a module of IR, as it names them."""
    return [match[1] for match in _DEFINITION.finditer(text)]


def device_names(text: str) -> list[str]:
    """Return the names under which the module registers its managed variables: those of the device's half."""
    managed, texts = set(names(text)), {m[1]: m[2] for m in _TEXT.finditer(text)}
    return [texts[match[3]] for match in _REGISTER.finditer(text) if match[2] in managed]


def mark(ptx: str, managed: list[str]) -> str:
    """Return the PTX with the attribute that says of variables that they are managed."""
    for name in managed:
        declared = re.compile(rf"^((?:\.\w+ )?\.global)( (?:\.align \d+ )?\.\w+ {re.escape(name)}\b)", re.MULTILINE)
        ptx = declared.sub(r"\1 .attribute(.managed)\2", ptx)
    return ptx


def rewritten(text: str, relocatable: bool) -> str:
    """Return the module with every use of a managed variable by the host going through its pointer.

    AnywarpError (T007) where a static initial value wants the variable's address, which is not known before the program runs.
    """
    managed = names(text)
    text = _REGISTER.sub(lambda match: _registration(match, managed), text)
    parts: list[str] = []
    at = 0
    for match in _FUNCTION.finditer(text):
        end = text.index("\n}\n", match.end()) if text.find("\n}\n", match.end()) >= 0 else len(text)
        parts += [_outside(text[at : match.start()], managed), match[0], _function(text[match.end() : end], managed)]
        at = end
    body = "".join([*parts, _outside(text[at:], managed)])
    return body + "".join(_accessor(text, name, relocatable) for name in managed) + "\n" + _declarations(body)


def _registration(match: re.Match[str], managed: list[str]) -> str:
    handle, variable, name, size = match.groups()
    if variable not in managed:
        return match[0]
    pointer = _with(variable, ".managed")
    return f"call void @__cudaRegisterManagedVar(ptr {handle}, ptr {pointer}, ptr {pointer}, ptr {name}, i32 0, i64 {size}, i32 0, i32 0)"


def _outside(text: str, managed: list[str]) -> str:
    """Check what lies between functions: a definition may name its own variable, an initial value may not."""
    for name in managed:
        for line in text.splitlines():
            if _mentions(line, name) and not line.startswith((f"{name} =", "@llvm.", "!", ";", "declare")):
                message = (
                    f"the initial value of {line.split(' ', 1)[0]} wants the address of the managed variable {name}"
                )
                raise codes.problem(codes.MANAGED_ADDRESS, message, "set it when the program runs")
    return text


def _function(body: str, managed: list[str]) -> str:
    """Return a function's body with what it uses of managed variables computed at its start."""
    used = [name for name in managed if _mentions(body, name)]
    start: list[str] = []
    for name in used:
        local = "%" + _LABEL.sub("_", name[1:]) + ".managed"
        start.append(f"  {local} = call ptr {_with(name, '.address')}()")
        body = re.sub(rf"{re.escape(name)}(?![-\w.$])", local, body)
    if not used:
        return body
    computed, body = _expanded(body)
    return "".join(f"{row}\n" for row in [*start, *computed]) + body


def _expanded(body: str) -> tuple[list[str], str]:
    """Return instructions for the constant expressions over pointers that are no longer constant, and the body that uses them."""
    computed: list[str] = []
    while (found := _innermost(body)) is not None:
        start, end, operation, inner = found
        local = f"%expression.{len(computed)}.managed"
        computed.append(f"  {local} = {operation} {inner}")
        body = body[:start] + local + body[end:]
    return computed, body


_EXPRESSION = re.compile(
    r"\b(getelementptr(?: inbounds| nuw| nusw| inrange\([^)]*\))*|ptrtoint|addrspacecast|bitcast) \("
)


def _innermost(body: str) -> tuple[int, int, str, str] | None:
    """Find a constant expression that names a managed pointer and holds no other expression that does."""
    for match in reversed(list(_EXPRESSION.finditer(body))):
        end = _closing(body, match.end())
        inner = body[match.end() : end]
        if ".managed" in inner and not any(".managed" in inner[m.end() :] for m in _EXPRESSION.finditer(inner)):
            return match.start(), end + 1, match[1], inner
    return None


def _closing(text: str, at: int) -> int:
    """Return the index of the parenthesis that closes the one before `at`."""
    depth = 1
    for index in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index
    return len(text)


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"{re.escape(name)}(?![-\w.$])", text) is not None


def _with(name: str, suffix: str) -> str:
    """Return the name of what belongs to a variable; quoted names keep their quotes."""
    return name[:-1] + suffix + '"' if name.endswith('"') else name + suffix


def _accessor(text: str, name: str, relocatable: bool) -> str:
    """Return the pointer's definition, and the function that makes sure that it has been filled."""
    pointer, function = _with(name, ".managed"), _with(name, ".address")
    kind = next(match["kind"] for match in _DEFINITION.finditer(text) if match[1] == name)
    if "external" in kind:
        definition = f"\n{pointer} = external global ptr, align 8\n"
    else:
        linkage = " ".join(
            word for word in kind.split() if word in ("internal", "linkonce_odr", "weak_odr", "dso_local", "hidden")
        )
        definition = f"\n{pointer} = {linkage} global ptr null, align 8\n"
    if relocatable:
        return definition + f"define internal ptr {function}() {{\n  %p = load ptr, ptr {pointer}\n  ret ptr %p\n}}\n"
    return definition + _ACCESSOR.format(pointer=pointer, function=function)


def _declarations(body: str) -> str:
    wanted = {
        "@__cudaRegisterManagedVar(": "declare void @__cudaRegisterManagedVar(ptr, ptr, ptr, ptr, i32, i64, i32, i32)\n",
        "@__cudaInitModule(": "declare i8 @__cudaInitModule(ptr)\n",
    }
    declared = [row for row in body.splitlines() if row.startswith("declare")]
    return "".join(row for name, row in wanted.items() if not any(name in line for line in declared))


def _escaped(content: bytes) -> str:
    """Return the type and value of a constant of bytes."""
    return f'[{len(content)} x i8] c"' + "".join(f"\\{byte:02X}" for byte in content) + '"'


_ACCESSOR = """\
define internal ptr {function}() {{
  %p = load ptr, ptr {pointer}
  %set = icmp ne ptr %p, null
  br i1 %set, label %done, label %wait
wait:
  %handle = load ptr, ptr @__cuda_gpubin_handle
  %ready = call i8 @__cudaInitModule(ptr %handle)
  %q = load ptr, ptr {pointer}
  ret ptr %q
done:
  ret ptr %p
}}
"""
