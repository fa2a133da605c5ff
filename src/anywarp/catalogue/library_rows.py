"""Make the rows of the tables that pair one library of CUDA with its counterparts in ROCm, from the facts of both.

The rules are `pairing`'s and the library's own (`library_sources`); what they cannot know stands in LIBRARY_choices.tsv.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from anywarp.catalogue import pairing
from anywarp.catalogue.c_facts import Facts, Function, Type
from anywarp.catalogue.library_sources import SHARED_NAMES, SHARED_TYPES, Side, Source

DATA = Path(__file__).parent / "data" / "rocm"
MAJORS = (12, 13)


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision by hand: for names that match `pattern`, a route or conversion, a target and a reason; empty cells decide nothing."""

    sort: str
    pattern: str
    decision: str
    target: str
    reason: str


def choices_of(stem: str) -> list[Choice]:
    """Read the decisions by hand about one library."""
    path = DATA / f"{stem}_choices.tsv"
    found: list[Choice] = []
    if path.exists():
        found = [Choice(*line.split("\t")) for line in _lines(path)]
    found += [Choice(*line.split("\t")) for line in _lines(DATA / "shared_choices.tsv")]
    if stem in ("runtime", "driver"):
        for line in _lines(DATA / "errors_to_hip.tsv"):
            _, driver, runtime, _, _, target, _, reason = line.split("\t")
            decision = "" if target else "none"
            found += [
                Choice("constant", name, decision, target, reason) for name in (*driver.split(), *runtime.split())
            ]
    return found


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")][1:]


def chosen(choices: Sequence[Choice], sort: str, name: str) -> Choice:
    """Return the first decision that matches, or an empty one."""
    for choice in choices:
        match = re.fullmatch(choice.pattern, name) if choice.sort == sort else None
        if match:
            target = choice.target
            for number, text in enumerate(match.groups(default=""), start=1):
                target = target.replace(f"\\{number}", text)
            return Choice(sort, choice.pattern, choice.decision, target, choice.reason)
    return Choice(sort, "", "", "", "")


@dataclass
class Derivation:
    """All that is known while the tables of one library are written."""

    source: Source
    cuda: dict[int, Facts]
    exported: dict[int, set[str]]
    rocm: dict[str, dict[str, Facts]]  # by side, by version
    choices: list[Choice]
    clients: Mapping[str, int]
    pairs: dict[str, str] = field(default_factory=dict[str, str])
    listed: bool = False  # the exports come from a table of one version, not from the library of each

    def side(self, name: str) -> Side:
        """Return a counterpart's description."""
        return next(s for s in self.source.sides if s.name == name)

    def both(self) -> str:
        """Name the versions of the counterparts, for reasons."""
        sides = [f"{name} of ROCm {_listed(list(facts))}" for name, facts in self.rocm.items()]
        return " or ".join(sides)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def symbol_in(facts: Facts, name: str) -> str:
    """Return the function that a name means in one version: the header may rename it by a macro."""
    renamed = facts.macros.get(name, "")
    if renamed in facts.functions:
        return renamed
    return name if name in facts.functions else ""


def _lookup(d: Derivation, names: list[str]) -> tuple[str, str]:
    for name in names:
        for side, versions in d.rocm.items():
            if any(symbol_in(facts, name) for facts in versions.values()):
                return side, name
    return "", ""


def type_pairs(d: Derivation) -> dict[str, str]:
    """Return the counterpart of each type's name, empty for none."""
    known = {name for versions in d.rocm.values() for facts in versions.values() for name in facts.types}
    pairs: dict[str, str] = {}
    for name in dict.fromkeys([*d.cuda[12].types, *d.cuda[13].types]):
        choice = chosen(d.choices, "type", name)
        candidates = [choice.target] if choice.target else [SHARED_TYPES[name]] if name in SHARED_TYPES else []
        candidates = candidates or pairing.counterpart_names(name, d.source.names)
        pairs[name] = "" if choice.decision == "none" else pairing.first_of(candidates, known.__contains__)
    return pairs


def function_rows(d: Derivation) -> list[list[str]]:
    """Return the rows of functions."""
    names: set[str] = set()
    for major in MAJORS:
        names |= (
            {n for n in d.clients if re.fullmatch(d.source.exported, n)}
            | d.exported[major]
            | {n for n in d.cuda[major].functions if re.fullmatch(d.source.exported, n)}
        )
    return [_function_row(d, name) for name in sorted(names)]


def _function_row(d: Derivation, name: str) -> list[str]:
    plain = re.sub(r"_pt[sd][sz]$", "", name)  # the variants for per-thread streams stand in no header
    ours = {m: d.cuda[m].functions.get(name) or d.cuda[m].functions.get(plain) for m in MAJORS}
    majors = [m for m in MAJORS if (name in d.exported[m] and not d.listed) or ours[m]] or list(MAJORS)
    first = ours[majors[0]] or ours[majors[-1]]
    texts = {m: f.declared() if (f := ours[m]) else "" for m in MAJORS}
    if 12 in majors and 13 in majors and texts[12] == texts[13]:
        texts[13] = "="
    choice = chosen(d.choices, "function", name)
    candidates = choice.target.split() if choice.target else pairing.counterpart_names(name, d.source.names)
    side, base = _lookup(d, candidates) if choice.decision != "absent" or choice.target else ("", "")
    counterpart = _counterpart_cells(d, side, base, ours, majors) if side else _Counterpart()
    route, reason = _route(d, name, choice, first, counterpart, side)
    cells = [
        name,
        " ".join(map(str, majors)),
        first.result if first else "",
        texts[12],
        texts[13],
        route,
        counterpart.symbol,
        side,
    ]
    cells += [
        counterpart.since,
        counterpart.removed,
        counterpart.result,
        counterpart.parameters,
        str(d.clients.get(name, 0)),
        reason,
        counterpart.earlier,
    ]
    return cells


@dataclass
class _Counterpart:
    symbol: str = ""
    since: str = ""
    removed: str = ""
    result: str = ""
    parameters: str = ""
    earlier: str = ""
    difference: str = ""


def _counterpart_cells(
    d: Derivation, side: str, base: str, ours: Mapping[int, Function | None], majors: list[int]
) -> _Counterpart:
    versions = d.rocm[side]
    symbols = {version: symbol_in(facts, base) for version, facts in versions.items()}
    there = [version for version, symbol in symbols.items() if symbol]
    last = there[-1]
    order = list(versions)
    counterpart = _Counterpart(symbols[last])
    counterpart.since = there[0] if there[0] != order[0] else ""
    # the bindings leave functions out: that they lack one says nothing
    after = [v for v in order[order.index(last) + 1 :] if is_header(versions[v])]
    counterpart.removed = after[0] if after else ""
    spelled = next((v for v in reversed(there) if is_header(versions[v])), last)
    declared = versions[spelled].functions[symbols[spelled]]
    counterpart.result, counterpart.parameters = declared.result, declared.declared()
    counterpart.earlier = " ".join(f"{v}={symbols[v]}" for v in there if symbols[v] != counterpart.symbol)
    for major in majors:
        function = ours[major]
        if function is None and not counterpart.difference:
            counterpart.difference = f"CUDA {major} exports it and declares it under no or another name"
        for version in there:
            if function is None or counterpart.difference:
                continue
            theirs = versions[version]
            strict = is_header(theirs)
            text = pairing.differences(
                function, d.cuda[major], theirs.functions[symbols[version]], theirs, d.pairs, strict=strict
            )
            text = text or _other_layout(d, function)
            counterpart.difference = text and f"CUDA {major}, ROCm {version}: {text}"
    return counterpart


def _other_layout(d: Derivation, function: Function) -> str:
    for kind, name in function.parameters:
        base, _ = pairing.base_of(kind)
        entry = next((d.cuda[m].types[base] for m in MAJORS if base in d.cuda[m].types), None)
        while entry is not None and entry.kind == "alias":
            base = pairing.base_of(entry.definition)[0]
            entry = next((d.cuda[m].types[base] for m in MAJORS if base in d.cuda[m].types), None)
        if entry is None or entry.kind not in ("struct", "union") or base in pairing.SAME_BYTES:
            continue
        counterpart = _counterpart_type(d, d.pairs.get(base, ""))
        if (
            counterpart is not None
            and _conversion(d, entry, counterpart, chosen(d.choices, "type", base))[0] == "struct"
        ):
            return f"{name}: {base} and {counterpart.name} have other fields"
    return ""


def is_header(facts: Facts) -> bool:
    """Tell facts of a C header from those of bindings."""
    return any(f.header for f in facts.functions.values())


def _route(
    d: Derivation, name: str, choice: Choice, first: Function | None, counterpart: _Counterpart, side: str
) -> tuple[str, str]:
    if choice.decision:
        return choice.decision, choice.reason
    if first is not None and d.source.old[0] and first.header == d.source.old[0]:
        return "absent", d.source.old[1]
    if first is None and not any(name in d.exported[m] for m in MAJORS):
        return "absent", "asked for by a measured program, and in no public header or list of exports"
    if first is None:
        return "absent", "exported, and declared in no public header"
    if not side:
        return "absent", choice.reason or chosen(d.choices, "absent", name).reason or f"no counterpart in {d.both()}"
    if counterpart.difference:
        return "custom", counterpart.difference
    return "forward", choice.reason


def type_rows(d: Derivation, functions: list[list[str]]) -> list[list[str]]:
    """Return the rows of types: the library's own, and those of other headers that functions and fields use."""
    wanted = _used_types(d, functions)
    rows: list[list[str]] = []
    for name in sorted(wanted):
        found = {m: d.cuda[m].types[name] for m in MAJORS if name in d.cuda[m].types}
        entry = found[min(found)]
        choice = chosen(d.choices, "type", name)
        target = d.pairs.get(name, "")
        counterpart = _counterpart_type(d, target, follow=entry.kind in ("struct", "union"))
        conversion, reason = _conversion(d, entry, counterpart, choice)
        text = found[max(found)].definition if entry.kind in ("struct", "union") else entry.definition
        if entry.kind in ("struct", "union") and len(found) == 2 and found[12].definition != found[13].definition:
            text = f"{found[12].definition} | {found[13].definition}"
        majors = " ".join(map(str, sorted(found)))
        rows.append(
            [name, entry.kind, majors, text, target, counterpart.definition if counterpart else "", conversion, reason]
        )
    return rows


def _used_types(d: Derivation, functions: list[list[str]]) -> set[str]:
    own: set[str] = set()
    for major in MAJORS:
        facts = d.cuda[major]
        texts = [f.result + "," + f.declared() for f in facts.functions.values()]
        texts += [facts.types[t].definition for t in facts.own if t in facts.types]
        own |= {t for t in facts.own if t in facts.types}
        todo = set(re.findall(r"\w+", " ".join(texts)))
        while todo:
            more = {w for w in todo if w in facts.types and w not in own}
            own |= more
            todo = set(
                re.findall(r"\w+", " ".join(facts.types[w].definition for w in more if facts.types[w].kind == "alias"))
            )
    return {t for t in own if not re.fullmatch(r"u?int\d+_t|size_t|ssize_t|FILE|_IO_\w+|__\w*int\w*_t|bool", t)}


def _counterpart_type(d: Derivation, target: str, *, follow: bool = True) -> Type | None:
    if not target:
        return None
    found: Type | None = None
    for versions in d.rocm.values():
        for facts in versions.values():
            entry = facts.types.get(target)
            if entry is not None and entry.kind == "alias" and follow:  # a name for a struct's tag
                under = facts.types.get(facts.resolved.get(target, target), entry)
                entry = under if under.kind in ("struct", "union") else entry
            if entry is not None and (found is None or not found.definition or (entry.layout and not found.layout)):
                found = replace(entry, name=target)
    return found


def _conversion(d: Derivation, entry: Type, counterpart: Type | None, choice: Choice) -> tuple[str, str]:
    if choice.decision:
        return choice.decision, choice.reason
    base, stars = pairing.settled(entry.name, d.cuda[12] if entry.name in d.cuda[12].types else d.cuda[13])
    if not stars and base in set(pairing.SAME_BYTES.values()) | {"float", "double", "char", "int"}:
        return "bits", choice.reason
    if entry.kind == "enum" or (entry.kind == "alias" and any(base in d.cuda[m].constants for m in MAJORS)):
        if counterpart is None:
            return "none", choice.reason or f"no counterpart in {d.both()}"
        return "enum", choice.reason
    if entry.kind == "handle":
        if counterpart is None:
            return "custom", choice.reason or f"an opaque pointer without a counterpart in {d.both()}"
        return "handle", choice.reason
    if counterpart is None:
        return "none", choice.reason or f"no counterpart in {d.both()}"
    under = _under(d, entry)
    if under.kind in ("struct", "union"):
        same = all(_same_struct(d, under, other) for other in _counterparts_by_version(d, counterpart.name))
        return ("same" if same and under.definition else "struct"), choice.reason
    if entry.kind == "callback":
        return "custom", choice.reason or "its arguments are converted when it is called"
    return "bits", choice.reason


def _under(d: Derivation, entry: Type) -> Type:
    for _ in range(4):
        if entry.kind != "alias":
            break
        base, stars = pairing.base_of(entry.definition)
        found = next((d.cuda[m].types[base] for m in MAJORS if base in d.cuda[m].types), None)
        if found is None or stars:
            break
        entry = found
    return entry


def _counterparts_by_version(d: Derivation, target: str) -> list[Type]:
    found: list[Type] = []
    for versions in d.rocm.values():
        for facts in versions.values():
            entry = facts.types.get(target)
            if entry is not None and entry.kind == "alias":
                entry = facts.types.get(facts.resolved.get(target, target), entry)
            if entry is not None and (entry.layout or entry.definition):
                found.append(entry)
    laid_out = [entry for entry in found if entry.layout]
    return laid_out or found  # bindings say less than headers


def _same_struct(d: Derivation, mine: Type, theirs: Type) -> bool:
    if mine.layout and theirs.layout:
        return _same_layout(d, mine, theirs)
    return _same_fields(d, mine.definition, theirs.definition)


def _shape(definition: str) -> list[tuple[str, int]]:
    fields = [f.strip() for f in definition.replace("|", ";").split(";") if f.strip()]
    return [pairing.base_of(re.sub(r"\w+((?:\[\w*\])*)$", r"\1", text)) for text in fields]


def _same_layout(d: Derivation, mine: Type, theirs: Type) -> bool:
    if mine.size != theirs.size or len(set(mine.layout)) != len(set(theirs.layout)):
        return False
    for (at, size, sort, enum), other in zip(sorted(set(mine.layout)), sorted(set(theirs.layout)), strict=True):
        if (at, size) != other[:2]:
            return False
        if sort == "enum" and not (other[2] == "enum" and enum and _same_numbers(d, enum)):
            return False
        if sort != "enum" and sort != other[2]:
            return False
    return True


def _same_fields(d: Derivation, mine: str, theirs: str, depth: int = 3) -> bool:
    first, second = _shape(mine), _shape(theirs)
    if len(first) != len(second) or "{" in mine or ":" in mine:
        return False
    for (base, stars), (their_base, their_stars) in zip(first, second, strict=True):
        if stars != their_stars or not _same_bytes(d, base, their_base, stars, depth):
            return False
    return True


def _same_bytes(d: Derivation, base: str, their_base: str, stars: int, depth: int) -> bool:
    if pairing.SAME_BYTES.get(base, base) == pairing.SAME_BYTES.get(their_base, their_base):
        return True
    entry = next((d.cuda[m].types[base] for m in MAJORS if base in d.cuda[m].types), None)
    counterpart = _counterpart_type(d, their_base)
    if entry is None or counterpart is None or d.pairs.get(base) != their_base:
        return False
    if stars or entry.kind in ("handle", "callback"):
        return True
    if entry.kind == "enum":
        return _same_numbers(d, base)
    return entry.kind == "struct" and depth > 0 and _same_fields(d, entry.definition, counterpart.definition, depth - 1)


def _same_numbers(d: Derivation, enum: str) -> bool:
    values = {m: d.cuda[m].constants.get(enum, {}) for m in MAJORS}
    rows = [_constant_row(d, enum, name, values) for name in {**values[12], **values[13]}]
    return all(row[5] and not row[9] and all(cell in ("", "=", row[5]) for cell in row[2:4]) for row in rows)


def constant_rows(d: Derivation, types: list[list[str]], functions: list[list[str]]) -> list[list[str]]:
    """Return the rows of constants of every enumeration in the table of types, and of macros."""
    rows: list[list[str]] = []
    enums = [row[0] for row in types if any(row[0] in d.cuda[m].constants for m in MAJORS)]
    for enum in [*enums, ""]:
        values = {m: d.cuda[m].constants.get(enum, {}) for m in MAJORS}
        for name in dict.fromkeys([*values[12], *values[13]]):
            rows.append(_constant_row(d, enum or "#define", name, values))
    macros = {m: d.cuda[m].macros for m in MAJORS}
    for name in sorted({*macros[12], *macros[13]}):
        if _is_guard(name, macros):
            continue
        rows.append(_macro_row(d, name, macros, {row[0]: row[6] for row in functions}))
    return rows


def _is_guard(name: str, macros: Mapping[int, Mapping[str, str]]) -> bool:
    empty = all(macros[m].get(name, "") == "" for m in MAJORS)
    return name.startswith("_") or bool(empty and re.search(r"_H_*$|_H_INCLUDED$", name))


def _pair_of_numbers(first: str, second: str) -> tuple[str, str]:
    return (first, "=") if first and first == second else (first, second)


def _constant_row(d: Derivation, enum: str, name: str, values: Mapping[int, Mapping[str, int]]) -> list[str]:
    first, second = (str(values[m].get(name, "")) for m in MAJORS)
    choice = chosen(d.choices, "constant", name)
    counterpart = d.pairs.get(enum, "")
    candidates = choice.target.split() or pairing.counterpart_names(name, (*d.source.names, *SHARED_NAMES))
    if not choice.target:
        candidates += pairing.alike(name, [*values[12], *values[13]], list(_counterpart_constants(d, counterpart)))
    target, value, since, removed, earlier = _constant_counterpart(
        d, counterpart, [] if choice.decision == "none" else candidates
    )
    if not target and choice.target:  # HIP has some of CUDA's enumerations as macros
        known = [
            f.macros[choice.target] for side in d.rocm.values() for f in side.values() if choice.target in f.macros
        ]
        numbers = [str(int(text, 0)) for text in known if re.fullmatch(r"\d+|0x[0-9a-fA-F]+", text)]
        target, value = (choice.target, numbers[-1]) if numbers else ("", "")
    reason = choice.reason or (
        "" if target else f"no such constant in {counterpart or 'ROCm: its type has no counterpart'}"
    )
    return [enum, name, *_pair_of_numbers(first, second), target, value, since, removed, reason, earlier]


def _constant_counterpart(d: Derivation, counterpart: str, candidates: list[str]) -> tuple[str, str, str, str, str]:
    for name in candidates:
        for versions in d.rocm.values():
            values = {v: _value_in(facts, counterpart, name) for v, facts in versions.items()}
            there = [v for v, value in values.items() if value is not None]
            if not there:
                continue
            order = [v for v, facts in versions.items() if facts.constants.get(counterpart)]
            last = there[-1]
            after = order[order.index(last) + 1 :] if last in order else []
            earlier = " ".join(f"{v}={values[v]}" for v in there if values[v] != values[last])
            since = there[0] if order and there[0] != order[0] else ""
            return name, str(values[last]), since, after[0] if after else "", earlier
    return "", "", "", "", ""


def _value_in(facts: Facts, enum: str, name: str) -> int | None:
    names = [enum] if enum else list(facts.constants)
    for key in names:
        key = key if key in facts.constants else facts.resolved.get(key, key)
        if name in facts.constants.get(key, {}):
            return facts.constants[key][name]
    return None


def _macro_row(
    d: Derivation, name: str, macros: Mapping[int, Mapping[str, str]], functions: Mapping[str, str]
) -> list[str]:
    first, second = (macros[m].get(name, "") for m in MAJORS)
    choice = chosen(d.choices, "constant", name)
    renamed = next(
        (w for w in re.findall(r"\w+", first or second) if w in functions), ""
    )  # a function's name of before
    candidates = choice.target.split() or (
        [functions[renamed]] if renamed else pairing.counterpart_names(name, d.source.names)
    )
    target = value = ""
    for candidate in [] if choice.decision == "none" else candidates:
        for versions in d.rocm.values():
            for facts in versions.values():
                numbers = [str(group[candidate]) for group in facts.constants.values() if candidate in group]
                if not target and (candidate in facts.macros or candidate in facts.functions or numbers):
                    target = candidate
                if candidate == target:
                    value = facts.macros.get(candidate, "") or (numbers[0] if numbers else value)
    reason = choice.reason or ("" if target else f"no counterpart in {d.both()}")
    return ["#define", name, *_pair_of_numbers(first, second), target, value, "", "", reason, ""]


def back_rows(d: Derivation, types: list[list[str]], constants: list[list[str]]) -> list[list[str]]:
    """Return what each constant of a counterpart means to a CUDA program."""
    rows: list[list[str]] = []
    for name, kind, _, _, target, *_ in types:
        if kind != "enum" or not target:
            continue
        known: dict[str, list[str]] = {}
        for row in constants:
            if row[0] == name and row[4]:
                known.setdefault(row[4], row)
        for constant, values in _counterpart_constants(d, target).items():
            last = list(values)[-1]
            earlier = " ".join(f"{v}={values[v]}" for v in values if values[v] != values[last])
            choice = chosen(d.choices, "back", constant)
            row = next((r for r in constants if r[0] == name and r[1] == choice.target), known.get(constant))
            cuda = [row[1], row[2], row[3]] if row else ["", "", ""]
            reason = choice.reason or ("" if row else f"no such constant in {name}")
            rows.append([target, constant, str(values[last]), name, *cuda, reason, earlier])
    return rows


def _counterpart_constants(d: Derivation, target: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for versions in d.rocm.values():
        for version, facts in versions.items():
            key = target if target in facts.constants else facts.resolved.get(target, target)
            for name, value in facts.constants.get(key, {}).items():
                found.setdefault(name, {})[version] = value
    return found


def settle_enums(types: list[list[str]], constants: list[list[str]]) -> None:
    """Call the conversion of an enumeration `same` where every constant has a counterpart of the same number in every version."""
    other = {
        row[0] for row in constants if not row[5] or row[9] or any(cell not in ("=", "", row[5]) for cell in row[2:4])
    }
    names = {row[0] for row in constants}
    for row in types:
        if row[6] == "enum" and row[0] in names - other:
            row[6] = "same"
