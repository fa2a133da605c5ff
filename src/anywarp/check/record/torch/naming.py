"""Names for modules: the outermost one by its class, those in it by their paths, the same in every run of the program."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import weakref
from typing import Any

from torch import nn

_AROUND = ("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_forward_module")
"""What the wrappers of DDP, torch.compile, FSDP and their like call the module that they are around: no part of its path."""
WRAPPERS = (
    "DistributedDataParallel", "DataParallel", "FullyShardedDataParallel", "CheckpointWrapper", "DDP",
)  # fmt: skip
COMPILED = "OptimizedModule"


class Names:
    """Paths of the modules of every outermost module seen."""

    def __init__(self) -> None:
        self._paths: weakref.WeakKeyDictionary[nn.Module, str] = weakref.WeakKeyDictionary()
        self._roots: dict[str, int] = {}

    def of_root(self, module: nn.Module) -> tuple[str, bool]:
        """Return the name of a module that is called from outside of all others, and whether it is new.

        A part of a module that is known already (an encoder that the program calls itself) keeps its path there.
        """
        if module in self._paths:
            return self._paths[module], False
        inner = unwrapped(module)
        kind = class_of(inner)
        number = self._roots[kind] = self._roots.get(kind, 0) + 1
        root = kind if number == 1 else f"{kind}#{number}"
        self._learn(module, root)
        return root, True

    def within(self, module: nn.Module, outermost: nn.Module, root: str) -> str:
        """Return the name of a module that is called within the outermost one."""
        if (known := self._paths.get(module)) is not None:
            return known
        self._learn(outermost, root)  # it has got new modules since
        if module not in self._paths:
            kind = class_of(module)
            self._paths[module] = f"{root}.?{kind}"
        return self._paths[module]

    def _learn(self, outermost: nn.Module, root: str) -> None:
        for path, module in outermost.named_modules():
            steps = [step for step in path.split(".") if step and step not in _AROUND_SET] if path else []
            self._paths.setdefault(module, ".".join([root, *steps]))


_AROUND_SET = frozenset(_AROUND)


def class_of(module: nn.Module) -> str:
    """Return the name of a module's class as the program has it; `fully_shard` gives modules a class of their own, FSDP and the name."""
    kind = type(module)
    made = kind.__bases__[1] if len(kind.__bases__) == 2 and kind.__bases__[0].__name__ == "FSDPModule" else kind
    return made.__name__


def unwrapped(module: Any) -> nn.Module:
    """Return the module inside of wrappers around it."""
    while type(module).__name__ in (*WRAPPERS, COMPILED):
        inner = next((child for name, child in module.named_children() if name in _AROUND), None)
        if inner is None:
            break
        module = inner
    return module
