"""One `asm` statement of CUDA C++ to C++ for HIP, through this project's own reader of PTX and its meanings of instructions.

Registers become variables, predicates become conditions, and each instruction becomes what its meaning computes; inputs are read
before the first and outputs written as the statement would. What has no form in HIP is refused by name, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from anywarp.diagnostics import AnywarpError, Source
from anywarp.migrate.translate.edits import Kept
from anywarp.migrate.translate.inline_ptx_forms import FORMS
from anywarp.migrate.translate.inline_ptx_ops import CppOps, Register, Untranslatable
from anywarp.migrate.translate.inline_ptx_text import REGISTERS, AsmOperand, AsmStatement
from anywarp.migrate.translate.inline_ptx_values import CPP, Text, TooLong, Value, Writer, cast, joined
from anywarp.ptx.isa.ops import Type
from anywarp.ptx.isa.registry import STRUCTURAL, declared, expand
from anywarp.ptx.statements import parse_body
from anywarp.ptx.tree import WIDTHS, Instruction, Label, Name, Registers, Scope, Statement

_SIMPLE = re.compile(rb"[A-Za-z_]\w*(?:(?:\.|->)\w+|\[[\w\s*/%]*(?:\+[\w\s*/%]+)?\])*")
_NUMBER = re.compile(rb"-?(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_BARE = frozenset(("trap", "brkpt", "exit", "ret", "bra"))
"""Instructions that need no modifiers; another assembler may have words like the others."""
_MOST = 200
"""Most instructions of one statement."""


_REGISTERS = 500
"""Most registers of one name."""


class NoPtx(Exception):
    """The statement is for another assembler, and not ours to judge."""


@dataclass(frozen=True)
class Converted:
    """What a statement becomes: `text` without a final semicolon where `block` is False, else a braced block."""

    text: Text
    block: bool
    needs: frozenset[bytes]
    notes: tuple[str, ...]


@dataclass
class _Work:
    """The state of one conversion."""

    statement: AsmStatement
    data: bytes
    bound: bool
    ops: CppOps
    registers: dict[str, Register]
    taken: set[str]
    macro: bool
    temporaries: int = 0
    lines: list[Text] = field(default_factory=list[Text])
    first: list[Text] = field(default_factory=list[Text])
    last: list[Text] = field(default_factory=list[Text])
    pending: dict[str, str] = field(default_factory=dict[str, str])
    labels: dict[str, str] = field(default_factory=dict[str, str])
    count: int = 0
    reads: dict[str, int] = field(default_factory=dict[str, int])


def convert(statement: AsmStatement, data: bytes, *, macro: bool = False) -> Converted:
    """Translate one statement; in a `macro` names may stand for expressions.

    Raises NoPtx where it is not PTX, Untranslatable where it has no form in HIP.
    """
    if statement.foreign or (not statement.broken and not statement.template.strip(" \t\r\n;")):
        raise NoPtx
    if statement.broken:
        raise Untranslatable(statement.broken, "write the instructions out, or use the C++ that they stand for")
    body = _parsed(statement, data)
    try:
        plain = _run(statement, data, body, bound=False, macro=macro)
        if not _again(plain, statement, data):
            return _single(plain)
        return _block(_run(statement, data, body, bound=True, macro=macro))
    except TooLong:
        raise Untranslatable("the expression for it would be too long to read", "write it in C++") from None


# --- reading ---------------------------------------------------------------------------------------------------------------------


@cache
def _opcodes() -> frozenset[str]:
    return frozenset({form.opcode for form, _ in declared()} | STRUCTURAL | set(FORMS))


def _parsed(statement: AsmStatement, data: bytes) -> Scope:
    text = statement.template
    for n, operand in enumerate(statement.operands):
        literal = _NUMBER.fullmatch(data[operand.start : operand.end])
        if literal is not None and not operand.written and operand.letter in "nirl":
            number = int(re.sub(rb"[uUlL]", b"", literal.group()), 0)
            text = re.sub(rf"%operand{n}\b", str(number), text)
    if text.rstrip()[-1] not in ";}":
        text += ";"
    text = "{\n" + text + "\n}"
    try:
        return parse_body(Source("<asm>", text), 0, len(text))
    except AnywarpError as error:
        if not _looks_like_ptx(text):
            raise NoPtx from None
        raise Untranslatable(
            f"it is no complete PTX: {error.diagnostic.message}",
            "give instructions that belong together in one asm statement",
        ) from None


def _looks_like_ptx(text: str) -> bool:
    words = re.findall(r"(?:^|[;{}\n])\s*(?:@!?%?\w+\s+)?([a-z]\w*)((?:\.\w+)+)[\s;]", text)
    return any(opcode in _opcodes() for opcode, _ in words)


def _flat(scope: Scope, names: dict[str, str], fresh: Callable[[], int]) -> Iterator[tuple[Statement, dict[str, str]]]:
    """Yield the statements of nested scopes in order, with the names that each sees: a declaration hides an outer one."""
    own = dict(names)
    for statement in scope.statements:
        if isinstance(statement, Scope):
            yield from _flat(statement, own, fresh)
        else:
            if isinstance(statement, Registers):
                for name, count in statement.names:
                    if (count or 0) > _REGISTERS:
                        raise Untranslatable(f"it declares more than {_REGISTERS} registers", "write it in C++")
                    for each in [name] if count is None else [f"{name}{n}" for n in range(count)]:
                        own[each] = f"{each}#{fresh()}"
            yield statement, own


# --- one pass ----------------------------------------------------------------------------------------------------------------------


def _run(statement: AsmStatement, data: bytes, body: Scope, *, bound: bool, macro: bool) -> _Work:
    words = {w.decode() for o in statement.operands for w in re.findall(rb"[A-Za-z_]\w*", data[o.start : o.end])}
    registers: dict[str, Register] = {}
    work = _Work(statement, data, bound, CppOps(registers, Instruction("", (), ())), registers, words, macro)
    for n, operand in enumerate(statement.operands):
        _operand(work, n, operand)
    registers["%cc"] = _local(work, "carry", "i1")
    registers["%operand_unique"] = Register("i32", ("0",), None)
    counter = iter(range(1 << 20))
    statements = list(_flat(body, {}, lambda: next(counter)))
    if len(statements) > _MOST:
        raise Untranslatable(f"it has more than {_MOST} instructions", "write it in C++")
    for each, _ in statements:
        if isinstance(each, Label):
            work.labels[each.name] = _fresh(work, f"{_word(each.name)}_{statement.start}")
    for each, names in statements:
        _statement(work, each, names)
    return work


def _operand(work: _Work, n: int, operand: AsmOperand) -> None:
    source = work.data[operand.start : operand.end]
    simple = _SIMPLE.fullmatch(source) is not None and not work.macro
    kept: Text = (Kept(operand.start, operand.end),)
    type: Type = REGISTERS[operand.letter] or "i64"  # type: ignore[assignment]
    if operand.letter == "C":
        raise Untranslatable("an operand is text", "write the instruction out")
    name = f"%operand{n}"
    if work.bound and _separate(work, operand, simple):
        local = _fresh(work, f"{'out' if operand.written else 'in'}{n}")
        start: Text = (f"{CPP[type]} {local}", *((" = ", *_read(type, kept, simple)) if operand.read else ()))
        work.first.append(start if operand.written else ("const ", *start))
        if operand.written:
            work.last.append((*kept, f" = {local}"))
        work.registers[name] = Register(type, (local,), (local,) if operand.written else None)
        return
    write: Text | None = kept if operand.written else None
    casts = type not in ("f32", "f64")
    bare: Text = kept if simple else ("(", *kept, ")")
    work.registers[name] = Register(type, _read(type, kept, simple), write, simple=not casts, raw=bare)


def _read(type: Type, kept: Text, simple: bool) -> Text:
    inside: Text = kept if simple else ("(", *kept, ")")
    return inside if type in ("f32", "f64") else (f"({CPP[type]})", *inside)


def _separate(work: _Work, operand: AsmOperand, simple: bool) -> bool:
    """Say whether an operand of a block needs a variable of its own, so that it is read before and written after all else."""
    if not simple:
        return True
    mine = set(re.findall(rb"[A-Za-z_]\w*", work.data[operand.start : operand.end]))
    others = [o for o in work.statement.operands if o is not operand and (o.written or operand.written)]
    return any(mine & set(re.findall(rb"[A-Za-z_]\w*", work.data[o.start : o.end])) for o in others)


def _local(work: _Work, name: str, type: Type) -> Register:
    cpp = _fresh(work, _word(name))
    work.pending[cpp] = CPP[type]
    return Register(type, (cpp,), (cpp,))


def _word(name: str) -> str:
    return re.sub(r"\W", "_", name.lstrip("%$_")) or "r"


_KEYWORDS = frozenset(
    "and or xor not new delete this for if else do while int float double char short long signed unsigned auto const static"
    " return switch case default break continue goto bool true false void class struct union enum template typename in out min max".split()
)


def _fresh(work: _Work, name: str) -> str:
    while name in work.taken or name in _KEYWORDS:
        name += "_"
    work.taken.add(name)
    return name


def _statement(work: _Work, statement: Statement, names: dict[str, str]) -> None:
    if isinstance(statement, Registers):
        if statement.vector != 1:
            raise Untranslatable("vector registers are declared")
        for name, count in statement.names:
            for each in [name] if count is None else [f"{name}{n}" for n in range(count)]:
                work.registers[names[each]] = _local(work, each, _held(statement.type))
    elif isinstance(statement, Label):
        work.lines.append((f"{work.labels[statement.name]}:",))
        work.count += 2
    elif isinstance(statement, Instruction):
        _instruction(work, statement, names)
    else:
        raise Untranslatable("it declares more than registers", "declare the variable in C++ and give it as an operand")


def _held(ptx: str) -> Type:
    if ptx == "pred":
        return "i1"
    found: dict[str, Type] = {"f32": "f32", "f64": "f64"}
    widths: dict[int, Type] = {8: "i8", 16: "i16", 32: "i32", 64: "i64", 128: "i128"}
    if ptx not in found and WIDTHS.get(ptx) not in widths:
        raise Untranslatable(f"registers of type .{ptx} have no form in C++")
    return found.get(ptx) or widths[WIDTHS[ptx]]


class _Scoped(dict[str, Register]):
    """Registers by the name that a statement sees."""

    def __init__(self, registers: dict[str, Register], names: dict[str, str]) -> None:
        super().__init__(registers)
        self.update({name: registers[unique] for name, unique in names.items() if unique in registers})


def _instruction(work: _Work, i: Instruction, names: dict[str, str]) -> None:
    ops = work.ops
    ops.registers = _Scoped(work.registers, names)
    ops.instruction, ops.writes, ops.effects, ops.loads = i, [], [], []
    if i.opcode == "bra":
        _jump(work, i)
        return
    form = FORMS.get(i.opcode)
    try:
        if form is None or not form(ops, i):
            if i.opcode not in _opcodes() or not (i.modifiers or i.opcode in _BARE):
                raise NoPtx
            expand(ops, i)
    except AnywarpError as error:
        raise Untranslatable(error.diagnostic.message, "write the computation in C++") from None
    except (TypeError, KeyError, IndexError) as error:  # operands that no form of the instruction has
        raise Untranslatable(f"the operands of `{i.form}` are not understood ({error})") from None
    _emit(work, i)


def _jump(work: _Work, i: Instruction) -> None:
    target = i.operands[0] if len(i.operands) == 1 else None
    if not isinstance(target, Name) or target.name not in work.labels:
        raise Untranslatable(
            "it jumps out of the statement", "let the statement compute a value, and branch on it in C++"
        )
    jump: Text = (f"goto {work.labels[target.name]}",)
    work.count += 2
    if i.guard is None:
        work.lines.append((*jump, ";"))
        return
    writer = Writer()
    work.lines.append(("if (", *writer.text(work.ops.guard()), ") ", *jump, ";"))


# --- writing -------------------------------------------------------------------------------------------------------------------------


def _emit(work: _Work, i: Instruction) -> None:
    """Write what one instruction does: loads, then effects, then results, under its guard."""
    ops = work.ops
    _inline_load(ops)
    roots = [v for _, v in ops.loads] + ops.effects + [v for _, v in ops.writes]
    if not roots:
        return
    writer = Writer(taken=frozenset(work.taken), first=work.temporaries)
    guarded = i.guard is not None
    condition = writer.text(ops.guard()) if guarded else ()
    for _declaration, value in ops.loads:
        writer.statements.append((_declaration, " = ", *writer.text(value)))
    writer.share(ops.effects + [v for _, v in ops.writes])
    _break_conflicts(writer, ops.writes)
    shared = len(writer.statements)
    work.temporaries += len(writer.named)
    flat = not guarded and (not shared or not work.labels)
    lines = list(writer.statements)
    lines += [writer.text(value) for value in ops.effects]
    for register, value in ops.writes:
        lines.append(_assignment(work, register, writer.text(value), alone=flat))
    work.count += len(lines) + guarded
    _place(work, lines, condition, guarded, flat)


def _place(work: _Work, lines: Sequence[Text], condition: Text, guarded: bool, flat: bool) -> None:
    if flat:
        work.lines += [(*line, ";") for line in lines]
    elif guarded and len(lines) == 1:
        work.lines.append(("if (", *condition, ") ", *lines[0], ";"))
    else:
        opening: Text = ("if (", *condition, ") {") if guarded else ("{",)
        work.lines += [opening, *(("\t", *line, ";") for line in lines), ("}",)]


def _inline_load(ops: CppOps) -> None:
    """Put the one load of an instruction where its value is used, if that is one place."""
    if len(ops.loads) != 1 or len(ops.writes) != 1 or ops.effects:
        return
    declaration, loaded = ops.loads[0]
    name = declaration.rsplit(" ", 1)[1]
    uses: list[Value] = []
    stack = [ops.writes[0][1]]
    while stack:
        value = stack.pop()
        if value.parts == (name,):
            uses.append(value)
        stack += value.operands
    if len(uses) == 1:
        leaf = uses[0]
        leaf.parts, leaf.binds, leaf.operands = loaded.parts, loaded.binds, loaded.operands
        ops.loads = []


def _break_conflicts(writer: Writer, writes: Sequence[tuple[Register, Value]]) -> None:
    """Compute results first where an earlier one of the same instruction would overwrite what a later one reads."""
    for n, (register, _) in enumerate(writes[:-1]):
        for _, later in writes[n + 1 :]:
            if _reads(later, register) and id(later) not in writer.named:
                writer.bind(later)


def _reads(value: Value, register: Register) -> bool:
    stack = [value]
    while stack:
        each = stack.pop()
        if each.simple and each.parts == register.read:
            return True
        stack += each.operands
    return False


def _assignment(work: _Work, register: Register, text: Text, *, alone: bool) -> Text:
    assert register.write is not None  # checked when it was written
    name = register.write[0] if len(register.write) == 1 and isinstance(register.write[0], str) else ""
    if alone and name in work.pending and not work.labels:
        return (f"{work.pending.pop(name)} {name} = ", *text)
    return (*register.write, " = ", *text)


def _again(work: _Work, statement: AsmStatement, data: bytes) -> bool:
    """Say whether the statement needs a block with variables: more than one line, or an operand used more than once."""
    if len(work.lines) > 1 or work.count > 1:
        return True
    uses: dict[Kept, int] = {}
    names = not work.macro
    for part in (p for line in work.lines for p in line):
        if isinstance(part, Kept):
            uses[part] = uses.get(part, 0) + 1
    return any(n > 1 and not (names and _SIMPLE.fullmatch(data[k.start : k.end])) for k, n in uses.items())


def _single(work: _Work) -> Converted:
    line = work.lines[0] if work.lines else ("(void)0;",)
    text = joined(line)
    if isinstance(text[-1], str) and text[-1].endswith(";"):
        text = (*text[:-1], text[-1][:-1])
    return Converted(text, False, frozenset(work.ops.needs), tuple(work.ops.notes))


def _block(work: _Work) -> Converted:
    used = _used(work)
    declarations: dict[str, list[str]] = {}
    for name, type in work.pending.items():
        if name in used:
            declarations.setdefault(type, []).append(name)
    first: list[Text] = [(*line, ";") for line in work.first if _needed(line, used)]
    first += [(f"{type} {', '.join(names)};",) for type, names in declarations.items()]
    last: list[Text] = [(*line, ";") for line in work.last]
    lines = [*first, *work.lines, *last]
    text: list[str | Kept] = ["{\n"]
    for line in lines:
        text += ["\t", *line, "\n"]
    return Converted(joined((*text, "}")), True, frozenset(work.ops.needs), tuple(work.ops.notes))


def _used(work: _Work) -> set[str]:
    strings = [p for line in (*work.lines, *work.last) for p in line if isinstance(p, str)]
    return set(re.findall(r"[A-Za-z_]\w*", " ".join(strings)))


def _needed(line: Text, used: set[str]) -> bool:
    match = (
        re.match(
            r"(?:const )?[\w ]+? (\w+)(?: = |$)",
            line[0] + (line[1] if line[0] == "const " and isinstance(line[1], str) else ""),
        )
        if isinstance(line[0], str)
        else None
    )
    return match is None or match.group(1) in used


__all__ = ["Converted", "NoPtx", "Untranslatable", "cast", "convert"]
