"""The table of instructions with their independent expected values: the one list that every implementation is held to.

`ROWS` covers every arithmetic, logic, compare, convert and bit instruction, one lane at a time. See `rows.Row` for what a row
says and `rows.inputs` for values to feed it; `warp_rows.ROWS` has the instructions that look at other lanes.
"""

# pyright: basic
from __future__ import annotations

from anywarp.check.conformance import compare_rows, convert_rows, float_rows, integer_rows, small_float_rows, video_rows
from anywarp.check.conformance.rows import KINDS, WIDTH, Row, inputs, matches

ROWS: list[Row] = [
    *integer_rows.ROWS, *float_rows.ROWS, *compare_rows.ROWS, *convert_rows.ROWS, *small_float_rows.ROWS, *video_rows.ROWS,
]  # fmt: skip

__all__ = ["KINDS", "ROWS", "WIDTH", "Row", "inputs", "matches"]
