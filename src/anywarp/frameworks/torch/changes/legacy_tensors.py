"""`torch.cuda.FloatTensor` and its kin: constructors from before dtypes and devices, which older programs still call.

In a CPU build the types are there, answer isinstance and name themselves, but refuse to make tensors.
"""

# pyright: basic
from __future__ import annotations

from typing import Any

from anywarp.frameworks.torch import load, patches

KINDS = ("Double", "Float", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")
"""What torch.cuda has a `...Tensor` for."""


@patches.when_imported("torch")
def _constructors(torch: Any) -> None:
    if load.library is None:
        return
    for kind in KINDS:
        name = f"{kind}Tensor"
        made = _class(torch, getattr(torch.cuda, name), getattr(torch, name))
        patches.set_attribute(torch.cuda, name, made, "a CPU build's own makes no tensors")
        torch._tensor_classes.add(made)
    real = torch._C._set_default_tensor_type

    def set_default(kind: Any) -> None:
        on_device = isinstance(kind, _Legacy)
        if on_device and not kind.dtype.is_floating_point:
            raise TypeError(f"only floating-point types are supported as the default type: {kind.__name__}")
        real(kind.of_cpu if on_device else kind)
        torch.set_default_device("cuda" if on_device else None)

    patches.set_attribute(torch._C, "_set_default_tensor_type", set_default, "a CPU build's own refuses types of cuda")


class _Legacy(type):
    """The type of these classes: isinstance asks torch's own type, and so do all other attributes."""

    of_cpu: Any
    original: Any

    @property
    def __name__(cls) -> str:  # without the module, which the true name holds for Tensor.type(...)
        return cls.of_cpu.__name__

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.original)

    def __getattr__(cls, name: str) -> Any:
        return getattr(type.__getattribute__(cls, "original"), name)

    def __repr__(cls) -> str:
        return repr(cls.original)


def _class(torch: Any, original: Any, of_cpu: Any) -> type:
    def make(cls: Any, *arguments: Any, device: Any = None) -> Any:
        first: Any = arguments[0] if len(arguments) == 1 else None
        if device is not None and torch.device(device).type != "cuda":
            raise RuntimeError(
                f"legacy constructor expects device type: cuda but device type: {torch.device(device).type} was passed"
            )
        with torch.cuda.device(-1 if device is None else torch.device(device)):
            if isinstance(first, torch.Tensor):
                if not isinstance(first, cls):
                    raise TypeError(f"expected torch.cuda.{of_cpu.__name__} (got {first.type()})")
                return first.detach()
            if isinstance(first, (torch.TypedStorage, torch.UntypedStorage)) and first.device.type == "cuda":
                return torch.empty(0, dtype=cls.dtype, device="cuda").set_(first)
            with torch.device("cpu"):
                return of_cpu(*arguments).cuda()

    # Tensor.type(...) reads the whole name out of the class.
    return _Legacy(
        f"torch.cuda.{of_cpu.__name__}",
        (),
        {"__new__": make, "original": original, "of_cpu": of_cpu, "__module__": "torch.cuda"},
    )
