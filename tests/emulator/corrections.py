"""Where tinygrad's emulator departs from AMD's manuals: each correction with the paragraph it follows."""

from __future__ import annotations

TEXTS = (
    # (what its emulator says, what it should say, why)
    (
        "m_base = c_grp * UOp.const(16, dtypes.int) + UOp.const((out_reg // 4) * 4 + out_reg % 4, dtypes.int)",
        "m_base = c_grp * UOp.const(4, dtypes.int) + UOp.const((out_reg // 4) * 8 + out_reg % 4, dtypes.int)",
        "32x32 MFMA: register r of lane l holds row 8*(r/4) + 4*(l/32) + r%4 (CDNA3 ISA, 7.1.4, 32x32 output layouts)",
    ),
)


def corrected(text):
    """The text of its emulator with `TEXTS` replaced; says which no longer apply."""
    for wrong, right, why in TEXTS:
        if wrong not in text:
            print("no longer applies:", why)
        text = text.replace(wrong, right)
    return text


def correct_parser():
    """Mend its reader of pseudocode."""


def correct_module(module):
    """Mend functions of the loaded emulator."""
