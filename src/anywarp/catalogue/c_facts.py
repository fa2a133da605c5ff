"""Read C headers into facts with libclang: functions, enumerations, structs, aliases and macros with their values.

The headers of ROCm's libraries are larger and freer than CUDA's own, which `interface` reads: a real C front end reads them
in a second and knows every value and size. Developers alone need it (package libclang); no comment and no body passes through.
"""
# pyright: basic, reportMissingModuleSource=false, reportMissingImports=false
# (libclang comes without complete types, and only to developers)

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Function:
    """A declared function: its result, and type and name of each parameter as the header spells them."""

    name: str
    result: str
    parameters: tuple[tuple[str, str], ...]
    header: str = ""

    def declared(self) -> str:
        """Return the parameters as C writes them, `void` for none."""
        return ", ".join(spell(kind, name) for kind, name in self.parameters) or "void"


# Where a plain value lies in a struct: byte, bytes, sort (integer, float, pointer, enum), and the enumeration's name.
Leaf = tuple[int, int, str, str]


@dataclass(frozen=True, slots=True)
class Type:
    """A declared type. `kind` is enum, struct, union, handle, alias or callback; `fields` are those of a struct or union."""

    name: str
    kind: str
    definition: str
    fields: tuple[tuple[str, str], ...] = ()
    size: int = 0
    layout: tuple[Leaf, ...] = ()  # of a struct or union that a C front end laid out
    packed: bool = False


@dataclass
class Facts:
    """What a set of headers declares, by name; `constants` are enumerations' names to their constants' values."""

    functions: dict[str, Function] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    constants: dict[str, dict[str, int]] = field(default_factory=dict)
    macros: dict[str, str] = field(default_factory=dict)
    resolved: dict[str, str] = field(default_factory=dict)  # an alias to the type's own name
    own: dict[str, str] = field(
        default_factory=dict
    )  # types that the asked headers themselves declare, with the header

    def merge(self, other: Facts) -> None:
        """Take over what the other has and this lacks."""
        for mine, theirs in (
            (self.functions, other.functions),
            (self.types, other.types),
            (self.constants, other.constants),
            (self.macros, other.macros),
            (self.resolved, other.resolved),
            (self.own, other.own),
        ):
            for key, value in theirs.items():
                mine.setdefault(key, value)  # type: ignore[arg-type]


def spell(kind: str, name: str) -> str:
    """Write a declaration of one name: `int *x`, `int x[4]`, `void (*f)(int)`."""
    kind = kind.strip()
    if "(*" in kind and not name:
        return kind
    match = re.match(r"(.*?\(\s*\*+)(?:\s*)(\).*)$", kind)
    if match:
        return f"{match[1]}{name}{match[2]}"
    match = re.match(r"(.*?)\s*((?:\[\w*\])+)$", kind)
    if match:
        return f"{match[1]} {name}{match[2]}"
    if not name:
        return kind
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"


def read(
    header: Path,
    include: Sequence[Path],
    own: Iterable[str],
    *,
    language: str = "c",
    define: Sequence[str] = (),
    inline: bool = False,
) -> Facts:
    """Read one header; facts of the files whose path ends with one of `own` (or lies below it, for `/folder/`).

    `inline` takes functions with bodies too, without the bodies. RuntimeError if the header does not parse.
    """
    from clang import cindex

    options = (
        cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
    )
    arguments = ["-x", language, *(f"-D{d}" for d in define), *(f"-I{path}" for path in include), "-ferror-limit=0"]
    if language == "c++":
        arguments.append("-std=c++17")
    unit = cindex.Index.create().parse(str(header), args=arguments, options=options)
    wrong = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if wrong:
        raise RuntimeError(f"{header}: {wrong[0]}")
    endings = tuple(own)
    facts = Facts()
    _walk(unit.cursor, facts, endings, cindex, inline=inline)
    return facts


def _walk(cursor, facts: Facts, endings: tuple[str, ...], cindex, *, inline: bool) -> None:  # type: ignore[no-untyped-def]
    kinds = cindex.CursorKind
    for child in cursor.get_children():
        place = child.location.file
        inside = place is not None and any(e in place.name if e[-1] == "/" else place.name.endswith(e) for e in endings)
        if (
            place is not None
            and inside
            and child.kind in (kinds.TYPEDEF_DECL, kinds.ENUM_DECL, kinds.STRUCT_DECL, kinds.UNION_DECL)
        ):
            facts.own.setdefault(child.spelling, Path(place.name).name)
        if child.kind in (kinds.LINKAGE_SPEC, kinds.UNEXPOSED_DECL):
            _walk(child, facts, endings, cindex, inline=inline)
        elif child.kind == kinds.TYPEDEF_DECL:
            _typedef(child, facts, inside, cindex)
        elif child.kind == kinds.ENUM_DECL:
            _enum(child, child.spelling, facts, inside)
        elif child.kind in (kinds.STRUCT_DECL, kinds.UNION_DECL) and child.spelling and child.is_definition():
            _record(child, child.spelling, facts, cindex)
        elif (
            child.kind == kinds.FUNCTION_DECL
            and place is not None
            and inside
            and (inline or not _has_body(child, cindex))
        ):
            _function(child, facts, Path(place.name).name, cindex)
        elif child.kind == kinds.MACRO_DEFINITION and inside:
            _macro(child, facts)


def _has_body(cursor, cindex) -> bool:  # type: ignore[no-untyped-def]
    return cursor.storage_class == cindex.StorageClass.STATIC or cursor.is_definition()


def _function(cursor, facts: Facts, header: str, cindex) -> None:  # type: ignore[no-untyped-def]
    parameters = tuple((_as_c(a.type.spelling), a.spelling) for a in cursor.get_arguments())
    facts.functions[cursor.spelling] = Function(cursor.spelling, _as_c(cursor.result_type.spelling), parameters, header)


def _as_c(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\b_Bool\b", "bool", text)).replace("*const *", "*const *").strip()


def _enum(cursor, name: str, facts: Facts, inside: bool) -> None:  # type: ignore[no-untyped-def]
    if "(unnamed" in name or "(anonymous" in name:
        name = ""
    values = {c.spelling: c.enum_value for c in cursor.get_children() if c.kind.name == "ENUM_CONSTANT_DECL"}
    if not values:
        return
    if not name:
        if inside:
            facts.constants.setdefault("", {}).update(values)
        return
    facts.constants[name] = values
    facts.types.setdefault(name, Type(name, "enum", cursor.enum_type.spelling, size=4))


def _fields(cursor, cindex) -> tuple[tuple[str, str], ...]:  # type: ignore[no-untyped-def]
    found: list[tuple[str, str]] = []
    for child in cursor.get_children():
        if child.kind.name == "FIELD_DECL":
            text = _as_c(child.type.spelling)
            if "(unnamed" in text or "(anonymous" in text:
                text = _inline(child.type.get_declaration(), cindex)
            name = child.spelling + (f" : {child.get_bitfield_width()}" if child.is_bitfield() else "")
            found.append((text, name))
        elif child.kind.name in ("UNION_DECL", "STRUCT_DECL") and cindex.conf.lib.clang_Cursor_isAnonymousRecordDecl(
            child
        ):
            found.append((_inline(child, cindex), ""))
    return tuple(found)


def _inline(cursor, cindex) -> str:  # type: ignore[no-untyped-def]
    word = "union" if cursor.kind.name == "UNION_DECL" else "struct"
    inner = " ".join(f"{spell(kind, name)};" for kind, name in _fields(cursor, cindex))
    return f"{word} {{ {inner} }}"


def _record(cursor, name: str, facts: Facts, cindex) -> None:  # type: ignore[no-untyped-def]
    fields = _fields(cursor, cindex)
    word = "union" if cursor.kind.name == "UNION_DECL" else "struct"
    text = " ".join(f"{spell(kind, key)};" for kind, key in fields)
    size = max(cursor.type.get_size(), 0)
    layout = tuple(_leaves(cursor.type.get_canonical(), 0))
    packed = any(child.kind.name == "PACKED_ATTR" for child in cursor.get_children())
    facts.types[name] = Type(name, word, text, fields, size, layout, packed)


def _leaves(kind, base: int) -> list[Leaf]:  # type: ignore[no-untyped-def]
    """Return the plain values in a type that lies at byte `base`, arrays as one value of all their bytes."""
    canonical = kind.get_canonical()
    name = canonical.kind.name
    if name == "RECORD":
        found: list[Leaf] = []
        for member in canonical.get_fields():
            at = canonical.get_offset(member.spelling) if member.spelling else member.get_field_offsetof()
            found += _leaves(member.type, base + max(at, 0) // 8)
        return found
    size = max(canonical.get_size(), 0)
    if name == "CONSTANTARRAY":
        inner = _leaves(canonical.element_type, 0)
        return (
            [(base, size, inner[0][2], inner[0][3])]
            if len(inner) == 1
            else [(base + a, b, c, d) for a, b, c, d in inner]
        )
    if name == "POINTER":
        return [(base, size, "pointer", "")]
    if name == "ENUM":
        return [(base, size, "enum", canonical.get_declaration().spelling)]
    return [(base, size, "float" if name in ("FLOAT", "DOUBLE", "LONGDOUBLE") else "integer", "")]


def _typedef(cursor, facts: Facts, inside: bool, cindex) -> None:  # type: ignore[no-untyped-def]
    name = cursor.spelling
    under = cursor.underlying_typedef_type
    canonical = under.get_canonical()
    declaration = canonical.get_declaration()
    kind = canonical.kind.name
    facts.resolved[name] = re.sub(r"^(struct|enum|union) ", "", canonical.spelling)
    if kind == "ENUM":
        tag = declaration.spelling
        if tag == name or "(" in tag or not tag:
            _enum(declaration, name, facts, inside)
            facts.resolved[name] = name
            return
        facts.resolved[name] = tag
        facts.types[name] = Type(name, "alias", under.spelling, size=4)
        return
    if kind == "RECORD":
        tag = declaration.spelling
        if not declaration.is_definition() and declaration.get_definition() is None:
            facts.types[name] = Type(name, "handle", under.spelling)
            return
        if tag == name or "(" in tag or not tag:
            _record(declaration.get_definition() or declaration, name, facts, cindex)
            facts.resolved[name] = name
            return
        facts.types[name] = Type(name, "alias", under.spelling, size=max(canonical.get_size(), 0))
        return
    if kind == "POINTER":
        pointee = canonical.get_pointee()
        if pointee.kind.name in ("FUNCTIONPROTO", "FUNCTIONNOPROTO"):
            facts.types[name] = Type(name, "callback", _as_c(under.spelling), size=8)
        else:
            facts.types[name] = Type(name, "handle", _as_c(under.spelling), size=8)
        return
    facts.types[name] = Type(name, "alias", _as_c(under.spelling), size=max(canonical.get_size(), 0))


def _macro(cursor, facts: Facts) -> None:  # type: ignore[no-untyped-def]
    tokens = [token.spelling for token in cursor.get_tokens() if token.kind.name != "COMMENT"]
    if len(tokens) < 2:
        facts.macros.setdefault(cursor.spelling, "")
        return
    if _is_function_like(cursor):
        facts.macros.setdefault(cursor.spelling, "()")
        return
    facts.macros.setdefault(cursor.spelling, re.sub(r"[\s\\]+", " ", " ".join(tokens[1:])).strip())


def _is_function_like(cursor) -> bool:  # type: ignore[no-untyped-def]
    from clang.cindex import conf

    return bool(conf.lib.clang_Cursor_isMacroFunctionLike(cursor))
