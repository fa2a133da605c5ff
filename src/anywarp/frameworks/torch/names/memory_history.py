"""Snapshots of device memory and its history, in the dictionaries that torch.cuda._memory_viz and PyTorch's viewer read.

The library numbers stacks; what a number means is kept here, so that the library needs no interpreter.
"""

# pyright: basic
from __future__ import annotations

import atexit
import ctypes
import json
import sys
from typing import Any

from anywarp.frameworks.torch.calls import checked, returning

ACTIONS = ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "snapshot", "oom")
STATES = ("inactive", "active_awaiting_free", "active_allocated")
LEVELS = {None: 0, "state": 1, "alloc": 2, "all": 3}

_PYTHON_BITS = 31
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32)
_OBSERVER = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)


class Stacks:
    """Stacks of Python by number: each distinct one once, so that a long history stays small."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[Any, ...], int] = {}
        self.found: list[tuple[Any, ...]] = []
        self.callback = _CALLBACK(self.note)

    def note(self) -> int:
        """Return the number of the stack that this thread stands on; 0 when there is none."""
        try:
            frame, entries = sys._getframe(1), []
            while frame is not None:
                entries += (frame.f_code, frame.f_lineno)
                frame = frame.f_back
            key = tuple(entries)
            number = self.numbers.get(key)
            if number is None:
                self.found.append(key)
                number = self.numbers[key] = len(self.found)
            return number
        except ValueError:
            return 0  # no frame of Python on this thread

    def frames(self, stack: int) -> list[dict[str, Any]]:
        """Return the frames of Python of a stack, the innermost first."""
        number = stack & (1 << _PYTHON_BITS) - 1
        if not 0 < number <= len(self.found):
            return []
        key = self.found[number - 1]
        pairs = zip(key[::2], key[1::2], strict=True)
        return [{"filename": code.co_filename, "line": line or 0, "name": code.co_name} for code, line in pairs]


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    stacks = Stacks()
    read = _reader(library, stacks)
    return {**_recording(library, stacks), **_reading(library, read), **_metadata(library)}


def _recording(library: ctypes.CDLL, stacks: Stacks) -> dict[str, Any]:
    record = checked(
        library, "awt_memory_history", ctypes.c_int, ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_uint32,
        _CALLBACK, ctypes.c_int,
    )  # fmt: skip
    enabled_now = returning(library, "awt_memory_history_enabled", ctypes.c_int)
    no_callback = _CALLBACK()

    def stop() -> None:
        record(0, 0, 0, 1, 0, no_callback, 0)

    def start(level: int, native: bool, most: int, clear: bool, skip: list[str]) -> None:
        unknown = [each for each in skip if each not in ACTIONS]
        if unknown:
            raise RuntimeError(f"Unknown TraceEntry action: {unknown[0]}")
        skipped = sum(1 << ACTIONS.index(each) for each in set(skip))
        most = min(max(int(most), 0), sys.maxsize)
        record(1, level, most, clear, skipped, stacks.callback if level else no_callback, level > 0 and native)

    def refuse(compile_context: bool, annotations: bool) -> None:
        if compile_context or annotations:
            asked = "compile_context" if compile_context else "global_record_annotations"
            raise NotImplementedError(f"_record_memory_history({asked}=True) is not served by anywarp")

    # At the end of the process memory is freed when there is no interpreter any more to ask for a stack.
    atexit.register(stop)

    def _cuda_record_memory_history(
        enabled: str | None = "all",
        context: str | None = "all",
        stacks: str = "all",
        max_entries: int = sys.maxsize,
        clear_history: bool = False,
        compile_context: bool = False,
        global_record_annotations: bool = False,
        skip_actions: list[str] | None = None,
    ) -> None:
        if enabled not in (None, "state", "all"):
            raise ValueError("expected state to be 'state', 'all', or None")
        if context not in LEVELS:
            raise ValueError("expected context to be 'state', 'alloc', 'all', or None")
        if stacks not in ("python", "all"):
            raise ValueError("expected stacks to be 'python', or 'all'")
        if enabled is None:
            return stop()
        refuse(compile_context, global_record_annotations)
        start(
            LEVELS[context], stacks == "all", max_entries if enabled == "all" else 1, clear_history, skip_actions or []
        )

    def _cuda_record_memory_history_legacy(
        enabled: bool,
        record_context: bool = True,
        trace_alloc_max_entries: int = 1,
        trace_alloc_record_context: bool = False,
        record_context_cpp: bool = False,
        clear_history: bool = False,
        compile_context: bool = False,
        global_record_annotations: bool = False,
        skip_actions: list[str] | None = None,
    ) -> None:
        if not enabled:
            return stop()
        refuse(compile_context, global_record_annotations)
        level = "alloc" if trace_alloc_record_context else "state" if record_context else None
        start(LEVELS[level], record_context_cpp, trace_alloc_max_entries, clear_history, skip_actions or [])

    def _cuda_isHistoryEnabled() -> bool:
        return bool(enabled_now())

    return {name: value for name, value in locals().items() if name.startswith("_")}


def _metadata(library: ctypes.CDLL) -> dict[str, Any]:
    set_words = checked(library, "awt_memory_set_metadata", ctypes.c_char_p)
    words = returning(library, "awt_memory_metadata", ctypes.c_char_p)
    observe = checked(library, "awt_memory_observe_oom", _OBSERVER)
    observers: list[Any] = []

    def tell_all(device: int, allocated: int, total: int, free: int) -> None:
        for observer in observers:
            observer(device, allocated, total, free)

    observe_all = _OBSERVER(tell_all)

    def _cuda_setMemoryMetadata(metadata: str) -> None:
        set_words(metadata.encode())

    def _cuda_getMemoryMetadata() -> str:
        return words().decode()

    def _cuda_attach_out_of_memory_observer(observer: Any) -> None:
        observers.append(observer)
        observe(observe_all)

    return {name: value for name, value in locals().items() if name.startswith("_")}


class _reader:
    """Reads what the library wrote: numbers of stacks become frames, each list of frames made once."""

    def __init__(self, library: ctypes.CDLL, stacks: Stacks) -> None:
        self.native = returning(library, "awt_memory_native_frames", ctypes.c_char_p, ctypes.c_int64)
        self.stacks = stacks
        self.known: dict[int, list[dict[str, Any]]] = {0: []}

    def frames(self, stack: int) -> list[dict[str, Any]]:
        """Return the frames of a stack: those of C++ up to the interpreter, then those of Python."""
        found = self.known.get(stack)
        if found is None:
            found = self.known[stack] = self._native_frames(stack) + self.stacks.frames(stack)
        return list(found)

    def _native_frames(self, stack: int) -> list[dict[str, Any]]:
        found = []
        for name, place in json.loads(self.native(stack).decode("utf-8", "replace")):
            if name.startswith(("_PyEval_", "PyEval_", "_PyFunction_", "_PyObject_", "PyObject_")):
                break
            found.append({"filename": place, "line": 0, "name": name})
        return found

    def segment(self, each: dict[str, Any]) -> dict[str, Any]:
        blocks = [
            {
                "address": address,
                "size": size,
                "requested_size": requested,
                "state": STATES[state],
                "frames": self.frames(stack),
            }
            for address, size, requested, state, stack in each["blocks"]
        ]
        plain = ("device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream")
        return {
            **{name: each[name] for name in plain},
            "segment_type": "small" if each["small"] else "large",
            "segment_pool_id": (each["pool0"], each["pool1"]),
            "is_expandable": False,
            "frames": self.frames(each["stack"]),
            "blocks": blocks,
        }

    def entry(self, each: dict[str, Any]) -> dict[str, Any]:
        found = {
            "action": each["action"],
            "device_free" if each["action"] == "oom" else "addr": each["address"],
            "size": each["size"],
            "stream": each["stream"],
            "time_us": each["time_us"],
            "pool_id": (each["pool0"], each["pool1"]),
            "compile_context": "N/A",
            "user_metadata": each["user_metadata"],
        }
        if each["stack"]:
            found["frames"] = self.frames(each["stack"])
        return found


def _reading(library: ctypes.CDLL, read: _reader) -> dict[str, Any]:
    snapshot = returning(
        library, "awt_memory_snapshot", ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int
    )
    stack_of = returning(library, "awt_memory_stack_of", ctypes.c_int64, ctypes.c_void_p)
    settings = returning(library, "awt_memory_settings", ctypes.c_char_p)
    settings_text = returning(library, "awt_memory_settings_text", ctypes.c_char_p)

    def allocator_settings() -> dict[str, Any]:
        found = json.loads(settings())
        divisions = found["roundup_power2_divisions"]
        found["roundup_power2_divisions"] = {str(1 << place): parts for place, parts in enumerate(divisions)}
        return {"PYTORCH_CUDA_ALLOC_CONF": settings_text().decode("utf-8", "replace"), **found}

    def _cuda_memorySnapshot(mempool_id: tuple[int, ...] | None = None) -> dict[str, Any]:
        graph, hand, *traces = mempool_id or (0, 0)
        devices = json.loads(snapshot(graph, hand, traces[0] if traces else True).decode("utf-8", "replace"))
        return {
            "segments": [read.segment(each) for device in devices for each in device["segments"]],
            "device_traces": [[read.entry(each) for each in device["trace"]] for device in devices],
            "allocator_settings": allocator_settings(),
            "external_annotations": [],
        }

    def _cuda_allocationTraceback(data_ptr: int) -> list[dict[str, Any]] | None:
        stack = stack_of(data_ptr)
        return read.frames(stack) if stack else None

    return {name: value for name, value in locals().items() if name.startswith("_")}
