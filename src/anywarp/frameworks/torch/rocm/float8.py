"""float8_e4m3fn on a gfx942, whose matrix cores know float8_e4m3fnuz alone: torch._scaled_mm refuses what every checkpoint holds.

https://github.com/pytorch/ao/issues/1066. The two have the same bits but for an exponent one smaller: a byte of the first means twice what it means in the
second, so bytes stay and scales are doubled, which is exact. Only -0 and NaN have other bytes (0x80 and 0x7F, 0xFF; there 0x80 is NaN).
gfx950 and gfx12 compute with the first itself, and are left alone.
"""

# pyright: basic
from __future__ import annotations

from functools import wraps
from typing import Any

from anywarp.devices.hip import topology
from anywarp.frameworks.torch import patches, scope

OWN = ("gfx940", "gfx941", "gfx942")


def mend(torch: Any) -> None:
    """Let torch._scaled_mm take float8_e4m3fn where a GPU has none."""
    if not hasattr(torch, "_scaled_mm") or not scope.changes_module("torch._scaled_mm"):
        return
    if any(gpu.architecture in OWN for gpu in topology.processors(topology.NODES)):
        reason = "gfx942 has float8_e4m3fnuz only: bytes of float8_e4m3fn are taken as that, with scales twice as large"
        patches.set_attribute(torch, "_scaled_mm", scaled_mm_over(torch, torch._scaled_mm), reason)


def scaled_mm_over(torch: Any, real: Any) -> Any:
    """Return torch._scaled_mm that hands `real` factors of float8_e4m3fnuz."""

    @wraps(real)
    def scaled_mm(self: Any, mat2: Any, scale_a: Any = None, scale_b: Any = None, *args: Any, **kwargs: Any) -> Any:
        if (
            torch.float8_e4m3fn not in (self.dtype, mat2.dtype)
            or not _on_such(torch, self)
            or scale_a is None
            or scale_b is None
        ):
            return real(self, mat2, scale_a, scale_b, *args, **kwargs)
        self, scale_a = _as_own(torch, self, scale_a)
        mat2, scale_b = _as_own(torch, mat2, scale_b)
        return real(self, mat2, scale_a, scale_b, *args, **kwargs)

    return scaled_mm


def _on_such(torch: Any, tensor: Any) -> bool:
    if tensor.device.type != "cuda":
        return False
    return torch.cuda.get_device_properties(tensor.device).gcnArchName.partition(":")[0] in OWN


def _as_own(torch: Any, tensor: Any, scale: Any) -> tuple[Any, Any]:
    """Return a factor and its scale as the hardware has them; scales of other types (e8m0) belong to products that it has not."""
    if tensor.dtype != torch.float8_e4m3fn or scale.dtype != torch.float32:
        return tensor, scale
    return same_bits(torch, tensor), scale * 2


def same_bits(torch: Any, tensor: Any) -> Any:
    """Return half of the values of a float8_e4m3fn as float8_e4m3fnuz."""
    bits = tensor.view(torch.uint8)
    nothing, nan = torch.zeros_like(bits), torch.full_like(bits, 0x80)
    bits = torch.where(bits == 0x80, nothing, torch.where((bits & 0x7F) == 0x7F, nan, bits))
    return bits.view(torch.float8_e4m3fnuz)
