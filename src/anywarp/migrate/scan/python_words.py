"""Reads Python that does not parse, word by word: Python 2, Cython, templates, and cells with a shell's lines in them.

It knows strings, comments, imports and dotted names, which is enough to find most of what a tree would show.
"""

from __future__ import annotations

import re

from anywarp.migrate.scan.python_uses import Uses

_TOKEN = re.compile(
    r'(?P<comment>\#[^\n]*)|(?P<string>(?:\b[rRbBuUfF]{1,2})?(?:"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'(?:[^\\]|\\.)*?(?:\'\'\'|\Z)'
    r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'))|(?P<import>(?m:^[ \t]*(?:c?import|from)[ \t]+[^\n#;]+))|(?P<dotted>[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)+)'
    r"|(?P<method>\.\s*(?:cuda\s*\(|is_cuda\b))",
    re.DOTALL,
)
_QUOTES = re.compile(r'^[rRbBuUfF]{0,2}("""|\'\'\'|"|\')')
_FROM = re.compile(r"\s*from\s+([\w.]+)\s+c?import\s+\(?([\w\s,*]*)")
_IMPORT = re.compile(r"\s*c?import\s+([\w\s.,]+)")


def read_words(data: bytes, uses: Uses) -> None:
    """Count the uses in a text that is no Python of today; places are offsets in bytes."""
    text = data.decode("latin-1")  # one character per byte: offsets stay
    names: dict[str, str] = {}
    for found in _TOKEN.finditer(text):
        if found["import"] is not None:
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            _import(found["import"], start, names, uses)
        elif found["string"] is not None:
            if not _variable(found["string"], found.start(), text, uses):
                _string(found["string"], found.start(), uses, _statement(text, found.start()))
        elif found["method"] is not None:
            uses.method("is_cuda" if "is_cuda" in found["method"] else "cuda()", found.start() + 1)
        elif found["dotted"] is not None:
            _dotted(
                re.sub(r"\s+", "", found["dotted"]), found.start(), text[found.end() : found.end() + 1], names, uses
            )


def _import(text: str, offset: int, names: dict[str, str], uses: Uses) -> None:
    if found := _FROM.match(text):
        module = found[1]
        if module.startswith("."):
            return
        uses.module(module, offset)
        for part in found[2].split(","):
            words = part.split()
            if words:
                names[words[-1]] = f"{module}.{words[0]}"
                if f"{module}.{words[0]}" in ("torch.cuda", "numba.cuda"):
                    uses.module(f"{module}.{words[0]}", offset)
    elif found := _IMPORT.match(text):
        for part in found[1].split(","):
            words = part.split()
            if words:
                uses.module(words[0], offset)
                names[words[2] if words[1:2] == ["as"] and len(words) > 2 else words[0].partition(".")[0]] = (
                    words[0] if "as" in words else words[0].partition(".")[0]
                )


def _statement(text: str, offset: int) -> bool:
    """Tell whether a string stands alone as a statement, as docstrings do."""
    before = text[max(0, offset - 200) : offset].rpartition("\n")[2]
    return not before.strip()


def _variable(literal: str, offset: int, text: str, uses: Uses) -> bool:
    """Count the name of a variable that the environment is asked for; tell whether it is one."""
    if re.search(r"(?:environ\s*(?:\[|\.\w+\s*\()|env\s*\()\s*$", text[max(0, offset - 40) : offset]) is None:
        return False
    uses.variable(literal.strip("\"'"), offset)
    return True


def _string(text: str, offset: int, uses: Uses, alone: bool) -> None:
    found = _QUOTES.match(text)
    if found is None or (alone and len(found[1]) == 3):
        return
    content = text[found.end() : len(text) - len(found[1])]
    uses.string(content, offset, raw=content.encode("latin-1") if len(content) > 24 else b"")


def _dotted(name: str, offset: int, after: str, names: dict[str, str], uses: Uses) -> None:
    first, _, rest = name.partition(".")
    if first in names:
        uses.dotted(f"{names[first]}.{rest}", offset)
    elif rest.rpartition(".")[2] == "cuda" and after == "(":
        uses.method("cuda()", offset)
    elif rest.rpartition(".")[2] == "is_cuda":
        uses.method("is_cuda", offset)
