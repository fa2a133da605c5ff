"""The structures that generated code and the runtime share, described once for both sides (docs/contracts.md).

Emitters take offsets from here by a field's name and tests the structures as ctypes; `python -m anywarp.compiler.abi FILE` writes the C header
(native/core/kernel_structures.h and hip_structures.h; scripts/docs keeps them current, a test holds them to that), which asserts every offset.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

_TYPES: dict[str, Any] = {
    "uint8_t": ctypes.c_uint8, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
}  # fmt: skip
_AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True, slots=True)
class Field:
    """A field as C declares it: type, name, number of elements (0: not an array), and what it says."""

    type: str
    name: str
    count: int
    comment: str

    @property
    def ctype(self) -> Any:
        """The field's type for ctypes; pointers are addresses."""
        one = ctypes.c_void_p if self.type.endswith("*") else _TYPES[self.type]
        return one * self.count if self.count else one

    def declaration(self, offset: int) -> str:
        """Return the field's line in C."""
        array = f"[{self.count}]" if self.count else ""
        return f"  {self.type} {self.name}{array};  // {offset:<4}{self.comment}".rstrip()


@dataclass(frozen=True)
class Structure:
    """One structure with C's layout on a 64-bit machine."""

    name: str
    comment: str
    fields: tuple[Field, ...]

    @cached_property
    def ctype(self) -> type[ctypes.Structure]:
        """The structure for ctypes."""
        return type(self.name, (ctypes.Structure,), {"_fields_": [(f.name, f.ctype) for f in self.fields]})

    @property
    def size(self) -> int:
        """Bytes of the structure."""
        return ctypes.sizeof(self.ctype)

    def offset(self, field: str, element: int = 0) -> int:
        """Return where a field, or an element of an array, begins; "grid.y" is an element, too. AttributeError for no field of it."""
        name, _, axis = field.partition(".")
        place = getattr(self.ctype, name)
        count = next(f.count for f in self.fields if f.name == name)
        index = _AXES[axis] if axis else element
        if index and not index < count:
            raise IndexError(f"{self.name}.{name} has no element {index}")
        return place.offset + (index * place.size // count if count else 0)

    def declaration(self) -> str:
        """Return the structure in C, and in C++ what holds its layout."""
        lines = [f"// {line}" for line in self.comment.splitlines()]
        lines += [
            f"struct {self.name} {{",
            *(f.declaration(self.offset(f.name)) for f in self.fields),
            "};",
            "#ifdef __cplusplus",
        ]
        lines.append(f"static_assert(sizeof({self.name}) == {self.size});")
        lines += [f"static_assert(offsetof({self.name}, {f.name}) == {self.offset(f.name)});" for f in self.fields]
        return "\n".join([*lines, "#endif", ""])


@dataclass(frozen=True)
class Enumeration:
    """Numbers that both sides know by name."""

    name: str
    comment: str
    holder: str  # the type that holds a value; empty: what C chooses
    values: tuple[tuple[str, str], ...]

    def __getitem__(self, name: str) -> int:
        """Return the number of a name; KeyError for none of its own."""
        return {word: number for number, (word, _) in enumerate(self.values)}[name]

    def declaration(self) -> str:
        """Return the enumeration in C."""
        holder = f" : {self.holder}" if self.holder else ""
        lines = [f"// {self.comment}", f"enum {self.name}{holder} {{"]
        lines += [f"  {word} = {number}," + (f"  // {says}" if says else "") for number, (word, says) in enumerate(self.values)]  # fmt: skip
        return "\n".join([*lines, "};", ""])


def _fields(text: str) -> Iterator[Field]:
    for line in text.strip().splitlines():
        declared, _, comment = line.partition("//")
        type, _, name = declared.strip().rstrip(";").rpartition(" ")
        name, _, count = name.partition("[")
        yield Field(type, name, int(count.rstrip("]") or 0), comment.strip())


def structure(name: str, comment: str, fields: str) -> Structure:
    """Return the structure with the fields that lines of C declare, their comments behind them."""
    return Structure(name, comment, tuple(_fields(fields)))


def enumeration(name: str, comment: str, values: str, holder: str = "") -> Enumeration:
    """Return the enumeration of names, one a line with a comment behind it, from 0 on."""
    pairs = (line.partition("//") for line in values.strip().splitlines())
    return Enumeration(name, comment, holder, tuple((word.strip(), says.strip()) for word, _, says in pairs))


LAUNCH = structure("AwLaunch", "One per launch, the same for all its blocks, never written by kernels.", """
    uint32_t grid[3];            // %nctaid
    uint32_t block[3];           // %ntid
    uint32_t dynamic_shared;     // bytes of dynamic shared memory
    uint32_t shared_total;       // static + dynamic bytes
    const uint8_t* params;       // parameter buffer, laid out as the artifact says
    uint8_t* module_data;        // .global and .const variables of the module
    uint64_t grid_id;            // %gridid
    uint64_t module_data_bytes;  //
    uint64_t grid_workspace;     // what %envreg1 and %envreg2 name in a cooperative launch, else 0
    void* check;                 // state of the memory checker, for host services; null without it
""")  # fmt: skip

WORKER = structure("AwWorker", """One per worker thread; what a block needs beside the launch. The kernel writes `ctaid` and `warp`
as it goes (for fault reports), and before an access to global or generic memory what a fault
handler needs to name the thread: the low byte of `access_kind` is 0 for none, 1 uniform (addresses[0]),
2 affine (addresses[0], stride), 3 addresses[32], 4 an array of addresses at addresses[0], 5 as many affine
ones of one stride as its fourth byte says (addresses[0] and addresses[17] on), 6 addresses[0] and as many
strides as an array of int32_t at addresses[31] says; its second byte
is the warps of the gang from `warp` on, less one; with bit 16 the mask, a bit per lane of the gang, begins
at addresses[1].""", """
    uint8_t* shared;         // shared memory of the running block, 64-byte aligned, shared_total bytes
    uint8_t* frame;          // warp states across barriers, 64-byte aligned, frame_bytes of the artifact
    uint8_t* local;          // local memory, 64-byte aligned, local_bytes per thread of the block
    uint32_t ctaid[3];       // block being run
    uint32_t warp;           // warp being run
    uint32_t access_kind;    //
    uint32_t access_mask;    // lanes taking part unless bit 16 of the kind is set (all ones: all)
    int64_t access_stride;   //
    uint32_t worker_id;      // index of the worker thread (%smid)
    uint32_t line;           // with AW_TRAP and AW_DEADLOCK: line of the PTX, 0 unknown
    uint64_t addresses[32];  //
    void* host;              // for host services
    uint32_t trap_lane;      // set with AW_TRAP
    uint32_t barrier_id;     // set with AW_DEADLOCK
    uint32_t resume;         // not 0: go on with the block in `ctaid`, whose states are in `frame`
    uint32_t reason;         // with AW_TRAP: an AwReason
""")  # fmt: skip

STATUS = enumeration("AwStatus", "What a kernel returns.", """
    AW_OK
    AW_TRAP      // trap, or an assertion of the kernel
    AW_DEADLOCK  // lanes wait at a barrier that can never complete
    AW_PAUSED    // the block waits for another one; call again with `resume`
""", "int32_t")  # fmt: skip

REASON = enumeration("AwReason", "Why a kernel trapped.", """
    AW_REASON_TRAP         // the kernel said so
    AW_REASON_NO_FUNCTION  // a call through a pointer to no function of the right kind
    AW_REASON_STACK        // a call or alloca for which the thread's stack has no room
    AW_REASON_TEXTURE      // and on: 2 + an HipTextureFault of core/hip_texture.h
""", "uint32_t")  # fmt: skip

HIDDEN = structure("AwHipHidden", """What a launch on the device hip tells a kernel beside its parameters. One argument buffer per
launch: CUDA's parameter buffer as it is, then, at the next multiple of 16, this.""", """
    uint32_t grid[3];            //
    uint32_t block[3];           // CUDA's block, whatever workgroup is launched
    uint32_t dynamic_shared;     // bytes that the launch asks for beyond the static ones
    uint32_t shared_total;       // static and dynamic
    uint64_t module_data;        // device address of the module's .global and .const variables
    uint64_t services;           // AwHipServices, in memory that host and device see; 0: none
    uint64_t grid_id;            //
    uint64_t grid_workspace;     // of a cooperative launch: what %envreg1 and %envreg2 tell; else 0
    uint32_t first_block[3];     // added to the workgroup's number: large grids are launched in pieces
    uint32_t module_data_bytes;  //
""")  # fmt: skip

SERVICES = structure("AwHipServices", """One per context, in memory of the host that the device sees (coherent). Only `attention` is
written by kernels: by a plain store, so that PCIe atomics are not needed.""", """
    uint32_t version;       // kAwHipServicesVersion
    uint32_t attention;     // not 0: there are records, or a kernel has stopped; the host sets 0
    uint64_t state;         // device address of AwHipState
    uint64_t records;       // device address of the records, 0: none are kept
    uint64_t record_bytes;  // a multiple of 16
    uint64_t heap;          // device address of the heap, a multiple of 16; 0: malloc returns null
    uint64_t heap_bytes;    //
    uint64_t reserved[2];   //
""")  # fmt: skip

STATE = structure("AwHipState", "In device memory, all 0 at first.", """
    uint64_t written;      // bytes of records that were given out since the beginning
    uint64_t consumed;     // bytes that the host has read; only the host writes it
    uint64_t dropped;      // records for which there was no room
    uint64_t frees;        // calls of free with what malloc did not return, or has been freed
    uint32_t stopped;      // an AwHipStop: the first reason that a kernel gave
    uint32_t reason;       // with AW_HIP_TRAP: an AwReason
    uint32_t block[3];     //
    uint32_t thread[3];    //
    uint32_t line;         // of the PTX, 0: not known
    uint32_t told;         // 1: the place above is complete
    uint64_t grid_id;      // AwHipHidden.grid_id of the launch
    uint64_t heap_top;     // bytes of the heap that were ever given out
    uint64_t wide_lock;    // taken by atomic operations on 128 bits
    uint64_t reserved[4];  //
    uint64_t lists[64];    // free blocks of each size: tag << 40 | (offset in the heap / 16 + 1)
""")  # fmt: skip

STOP = enumeration("AwHipStop", "Why a kernel ended early.", "AW_HIP_RUNNING\nAW_HIP_TRAP\nAW_HIP_ASSERT")

RECORD_KIND = enumeration("AwHipRecordKind", "What a record is.", """
    AW_HIP_UNFINISHED
    AW_HIP_PRINT
    AW_HIP_ASSERTION
    AW_HIP_FILLER  // nothing: the rest of the buffer before records start at its beginning again
""")  # fmt: skip

RECORD = structure("AwHipRecord", """One printf or assertion, at a multiple of 16 in the records. Of `bytes` the last ones are
filling. A print goes on with: the format and its NUL, filled up to a multiple of 8; `arguments`
bytes of the argument buffer as the kernel has laid it out, filled up likewise; then for each %s
whose argument is not null, in order, u32 length and that many bytes, filled up to a multiple
of 4. An assertion goes on with three texts, message, file and function, each u32 length and
bytes filled up to a multiple of 4; `arguments` is the line.""", """
    uint32_t kind;       // written last
    uint32_t bytes;      //
    uint64_t grid_id;    //
    uint32_t block[3];   //
    uint32_t thread[3];  //
    uint32_t format;     // bytes of the format, NUL included
    uint32_t arguments;  //
""")  # fmt: skip

BLOCK = structure("AwHipBlock", "In front of each block of the device's heap.", """
    uint32_t mark;  // kAwHipUsed, kAwHipFree
    uint32_t size;  // which of the sizes: 16, 24, 32, 48, 64, ... (times 16 bytes from 1 on)
    uint64_t next;  // free blocks: as in AwHipState.lists, without the tag
""")  # fmt: skip

PLACE = structure("AwHipPlace", "Who calls a service: the launch, the block in it and the thread in that.", """
    uint64_t grid_id;    //
    uint32_t block[3];   //
    uint32_t thread[3];  //
""")  # fmt: skip

HEADERS = {
    "kernel_structures.h": (LAUNCH, WORKER, STATUS, REASON),
    "hip_structures.h": (HIDDEN, SERVICES, STATE, STOP, RECORD_KIND, RECORD, BLOCK, PLACE),
}
"""What each header of native/core declares. That of AMD GPUs is plain C, as are the services that are compiled for them."""


def header(name: str) -> str:
    """Return one of the headers; KeyError for another name."""
    parts = "\n".join(each.declaration() for each in HEADERS[name])
    return (
        "// clang-format off\n// Made by anywarp/compiler/abi.py; change the table there instead.\n#pragma once\n\n"
        f"#ifndef AW_DEVICE_CODE\n#include <stddef.h>\n#include <stdint.h>\n#endif\n\n{parts}"
    )


if __name__ == "__main__":
    sys.stdout.write(header(PurePath(sys.argv[1]).name))
