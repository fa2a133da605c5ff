"""AOTInductor: packages compiled for `cuda` hold code for the CPU, and say in their metadata how it is called.

The package's own loader serves the CPU; what it loads is called with aliases of device tensors, as `calls.py` does.
"""

# pyright: basic
from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import torch

from anywarp.frameworks.torch.compile import calls, islands
from anywarp.frameworks.torch.compile.graphs import Plan

KEY = "ANYWARP_PLAN"
"""The metadata of a package under which the plan of its calls lies, as JSON."""


def metadata(plan: Plan) -> dict[str, str]:
    """Return what a package must say for `loader` to call its code; only tensors are passed to it."""
    return {KEY: json.dumps(asdict(replace(plan, inputs=tuple(range(len(plan.inputs))), input_count=len(plan.inputs))))}


def read(text: str) -> Plan:
    """Return the plan in a package's metadata; ValueError with what is wrong with it."""
    try:
        found = json.loads(text)
        return Plan(
            device=_number(found["device"]),
            inputs=tuple(map(_number, found["inputs"])),
            input_count=_number(found["input_count"]),
            outputs=tuple(None if each is None else _number(each) for each in found["outputs"]),
            keep=bool(found["keep"]),
            islands=tuple((str(name), str(overload), str(places)) for name, overload, places in found["islands"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this package's {KEY} cannot be read: {error!r}") from error


def _number(value: Any) -> int:
    if not isinstance(value, int) or not -1 <= value < 1 << 20:
        raise ValueError(f"{value!r} is no small number")
    return value


class Loader:
    """The loader of a package, with its model called for the devices it was compiled for; all else is the real loader's."""

    def __init__(self, real: Any, plan: Plan):
        islands.define(list(plan.islands))
        self._real = real
        self._plan = plan
        self._call = calls.on_device(real.boxed_run, plan)

    def boxed_run(self, inputs: list[torch.Tensor]) -> Sequence[torch.Tensor]:
        """Run the model; as many inputs as it was compiled for, else RuntimeError."""
        if len(inputs) != self._plan.input_count:
            raise RuntimeError(f"the model takes {self._plan.input_count} tensors, not {len(inputs)}")
        return self._call(inputs)

    def run(self, inputs: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """The same, leaving the list as it is."""
        return self.boxed_run(list(inputs))

    def load_constants(self, constants: dict[str, torch.Tensor], *rest: Any) -> None:
        """Give the model its constants, which may lie on a device."""
        alias = torch.ops.anywarp.cpu_alias
        self._real.load_constants({name: alias(tensor.detach()) for name, tensor in constants.items()}, *rest)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def loader(real: Any) -> Any:
    """Return the loader to be used for a package: `real`, unless it was compiled for `cuda` by way of the CPU."""
    text = None if isinstance(real, Loader) else real.get_metadata().get(KEY)
    return real if text is None else Loader(real, read(text))
