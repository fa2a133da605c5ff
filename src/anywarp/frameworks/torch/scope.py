"""Which programs get a `cuda` in torch and which modules are left as they are: the user's two lists.

Some programs are better off with plain torch, and some packages must stay untouched; both are matters for whoever runs them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from anywarp import settings


def program(arguments: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the names by which this process's program may be listed: `train.py` and `train`, `torch.distributed.run`, `-c`.

    `arguments` are those of the interpreter (sys.orig_argv, where this Python has it).
    """
    words = list(arguments if arguments is not None else getattr(sys, "orig_argv", sys.argv))
    if "-m" in words[:-1] and not any(word.endswith(".py") for word in words[1 : words.index("-m")]):
        return (words[words.index("-m") + 1],)
    name = (sys.argv[0] if arguments is None and sys.argv else words[-1]).replace("\\", "/").rpartition("/")[2]
    return (name, name[: -len(".py")]) if name.endswith(".py") else (name,)


def serves_program(names: Sequence[str]) -> bool:
    """Tell whether a program of these names gets the stand-in: in the scope, if there is one, and not blocked."""
    scope, block = settings.TORCH_SCOPE.get(), settings.TORCH_BLOCK.get()
    wanted = not scope or any(covers(entry, name) for entry in scope for name in names)
    return wanted and not any(covers(entry, name) for entry in block for name in names)


def changes_module(name: str) -> bool:
    """Tell whether a module may be changed: neither it nor a package that it is in is blocked."""
    return not any(covers(entry, name) for entry in settings.TORCH_BLOCK.get())


def covers(entry: str, name: str) -> bool:
    """Tell whether an entry of a list is this name or a package that holds it."""
    return name == entry or name.startswith(entry + ".")
