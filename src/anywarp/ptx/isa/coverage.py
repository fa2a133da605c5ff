"""The page that says of each instruction of the PTX manual which forms are implemented: `docs/coverage/ptx.md`.

Made from the manual's table and from what the meanings declare, so that neither can be forgotten.
"""

from __future__ import annotations

from anywarp.ptx.isa.manual import ENTRIES, Entry
from anywarp.ptx.isa.registry import SETS, Form, declared, structural
from anywarp.ptx.isa.special_registers import SPECIAL


def belongs(form: Form, entry: Entry) -> bool:
    """Tell whether a declared form is one of the instruction: it can have all of its name, and no longer name must fit it."""
    opcode, words = entry.parts
    required = [slot for slot in (*form.types, *form.others) if not slot.optional]
    if form.opcode != opcode or not words <= {option for slot in required for option in slot.options}:
        return False
    fixed = {option for slot in required if len(slot.options) == 1 for option in slot.options}
    longer = [e for e in ENTRIES if e.parts[0] == opcode and e.parts[1] > words]
    return not any(e.parts[1] - words <= fixed for e in longer)


def forms_of(entry: Entry) -> list[str]:
    """The declared forms of an instruction, in the manual's notation."""
    return list(dict.fromkeys(f.text for f in [*(f for f, _ in declared()), *structural()] if belongs(f, entry)))


def page() -> str:
    """Return the page as Markdown."""
    done = sum(not e.refused for e in ENTRIES)
    lines = [
        "# Instructions of the PTX manual",
        "",
        "Made by `python -m anywarp.ptx.isa.coverage` from the table of the manual's instructions (PTX ISA 9.3) and from the forms",
        f"that the meanings in `src/anywarp/ptx/isa/` declare. {len(ENTRIES)} instructions: {done} implemented, {len(ENTRIES) - done} refused, each by",
        "a diagnostic (C101) that names it.",
        "",
        "`{.x}` may be left out, `.x/y` is one of several, and modifiers other than types may come in any order. Names for alternatives:",
        "",
        *(f"- `<{name}>`: `{options}`" for name, options in SETS.items()),
        "",
        f"All {len(SPECIAL)} special registers of chapter 10 can be read. A cluster is one block; registers that only counters of events,",
        "graphs on the device or drivers would set read as 0.",
    ]
    chapter = ""
    for entry in ENTRIES:
        if entry.chapter != chapter:
            chapter = entry.chapter
            lines += ["", f"## {chapter}", "", "| instruction | forms | |", "| --- | --- | --- |"]
        forms = "refused" if entry.refused else "<br>".join(f"`{f}`" for f in forms_of(entry))
        lines.append(f"| `{entry.name}` | {forms} | {entry.refused or entry.note} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
