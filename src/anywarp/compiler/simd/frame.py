"""What lies in `AwWorker.frame` while a block runs whose warps wait: only generated code looks inside.

The block's barriers come first, then a state per gang, and behind each state's beginning the values that its lanes need later.
"""

from __future__ import annotations

from anywarp.compiler.abi import Structure, structure

CELL = structure("Cell", "One barrier of the block.", """
    uint32_t expected;     // threads; 0: all
    uint32_t arrived;      // threads that arrived without waiting
    uint32_t kind;         // of reduction
    uint32_t total;        // of the reduction so far; for `and`: whether any predicate failed
    uint32_t result;       // of the last reduction
    uint32_t reserved[2];  //
    uint32_t rounds;       // first cell: rounds with lanes that yield since the block has last let others run
""")  # fmt: skip
CELLS = 16
FIXED = CELLS * CELL.size
"""Bytes of the barriers."""

GANG = structure("Gang", "A gang of which all lanes wait together.", """
    uint32_t next;           // the number of the place where it goes on
    uint32_t reserved;       //
    uint64_t alive;          // a bit for each lane that has not exited
    uint64_t unused[6];      //
""")  # fmt: skip
LANE_STATES = structure("LaneStates", "A warp whose lanes wait on their own.", """
    uint32_t next[32];     // the number of the place where each goes on
    uint32_t waiting[32];  // READY, EXITED, LACKING, else a barrier
    uint32_t result[32];   // of the last reduction
""")  # fmt: skip
READY, EXITED, LACKING = -1, -2, -3
"""What `LaneStates.waiting` says of lanes that wait at no barrier: may run, has ended, lanes that it names are missing."""

_MARKED: dict[str, Structure] = {"cell": CELL, "lanes": LANE_STATES}


def with_offsets(text: str) -> str:
    """Return LLVM IR with numbers in place of `@cell.FIELD@` and `@lanes.FIELD@`, offsets there."""
    for mark, described in _MARKED.items():
        for field in described.fields:
            text = text.replace(f"@{mark}.{field.name}@", str(described.offset(field.name)))
    return text
