"""Where the modules of a program are called: `torch.nn.Module.__call__`, which every one of them goes through.

What is recorded of a call: values that the outermost module is given (in the mode `tensors`, what every chosen module is given), what chosen
modules return, and what they keep beside their parameters. Calls that torch compiles, captures or traces pass as they are.
"""

# pyright: basic, reportAttributeAccessIssue=false, reportPrivateImportUsage=false
from __future__ import annotations

import functools
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from anywarp.check.bundle.blob import SIZES
from anywarp.check.bundle.entries import Entry
from anywarp.check.record.session import Session
from anywarp.check.record.torch import facts, operations, precise, values
from anywarp.check.record.torch.apart import Change
from anywarp.check.record.torch.measuring import Pending, Samples
from anywarp.check.record.torch.naming import COMPILED, WRAPPERS, Names, unwrapped

Original = Callable[..., Any]
_CONTAINERS = (nn.ModuleList, nn.ModuleDict, nn.Sequential)
_STATE_LIMIT = 64
"""Tensors that a module keeps beside parameters, of which so many are looked at."""


class Call:
    """One call of an outermost module, while it lasts."""

    def __init__(self, module: nn.Module, root: str, number: int) -> None:
        self.module, self.root, self.number = module, root, number
        self.visits = Counter[str]()
        self.inside = list[str]()
        """Names of the chosen modules whose calls last, outermost first."""
        self.entries = list[tuple[Entry, Pending | None]]()
        self.last: tuple[weakref.ref[torch.Tensor], int, Pending] | None = None


class Recorder:
    """Sees every call of a module and records what the plan wants."""

    def __init__(self, session: Session) -> None:
        self.session, self.plan = session, session.plan
        self.names = Names()
        self.counts = Counter[str]()
        self.current: Call | None = None
        self.busy = False
        """Within a call that is not recorded, or within what the recorder itself does."""
        self.thread = 0
        self.samples = Samples(self.plan.sample, self.plan.seed)
        self.vocabularies = set[int]()
        """Into how many tokens the embeddings of outermost modules reach: logits have as many."""
        session.facts = facts.gather
        session.rank = rank

    def called(self, original: Original, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a module as the program does, and record it."""
        if self.session.stopped or self.busy:
            return original(module, *args, **kwargs)
        if self.current is not None:
            if threading.get_ident() != self.thread:
                self.session.note("modules were called by several threads at once: those of the first are recorded")
                return original(module, *args, **kwargs)
            return self._within(self.current, original, module, args, kwargs)
        if _passes(module):
            return original(module, *args, **kwargs)
        return self._outermost(original, module, args, kwargs)

    def _outermost(self, original: Original, module: nn.Module, args: Any, kwargs: Any) -> Any:
        if type(module).__name__ in WRAPPERS:
            return original(module, *args, **kwargs)  # transparent: what it is around is the outermost one
        call = self._begin(module)
        if call is None:
            self.busy = True
            try:
                return original(module, *args, **kwargs)
            finally:
                self.busy = False
        self.current, self.thread = call, threading.get_ident()
        try:
            return self.outermost(call, original, module, args, kwargs)
        finally:
            self.current = None
            self.guarded(lambda: self._end(call))

    def _begin(self, module: nn.Module) -> Call | None:
        """Return the call that begins, None when enough of this module's have been recorded."""
        root, is_new = self.names.of_root(module)
        number = self.counts[root]
        self.counts[root] += 1
        if number >= self.plan.calls:
            return None
        if is_new:
            self.guarded(lambda: self.meet(root, module))
        return None if self.session.stopped else Call(module, root, number)

    def meet(self, root: str, module: nn.Module) -> None:
        """Write down an outermost module that is new."""
        if type(module).__name__ == COMPILED:
            self.session.note(f"{root} is compiled by torch.compile: it is recorded as a whole, not the modules in it")
        inner = unwrapped(module)
        self.session.models[root] = facts.structure(inner)
        self.vocabularies |= {each.num_embeddings for each in inner.modules() if isinstance(each, nn.Embedding)}

    def outermost(self, call: Call, original: Original, module: nn.Module, args: Any, kwargs: Any) -> Any:
        """Call an outermost module and record it."""
        self.guarded(lambda: self.take(call, call.root, 0, "input", _given(args, kwargs)))
        if self._wants_precise(module):
            self.guarded(lambda: self.take_precise(call, call.root, 0, original, module, args, kwargs, _copied))
        if self.plan.mode == "tensors":
            self.guarded(lambda: self._take_random_state(call))
        return self.chosen(call, call.root, 0, original, module, args, kwargs)

    def _within(self, call: Call, original: Original, module: nn.Module, args: Any, kwargs: Any) -> Any:
        name = self.names.within(module, call.module, call.root)
        if isinstance(module, _CONTAINERS) or not self.plan.chooses(name):
            return original(module, *args, **kwargs)
        visit = call.visits[name]
        call.visits[name] += 1
        call.inside.append(name)
        try:
            return self.inner(call, name, visit, original, module, args, kwargs)
        finally:
            call.inside.pop()

    def inner(
        self, call: Call, name: str, visit: int, original: Original, module: nn.Module, args: Any, kwargs: Any
    ) -> Any:
        """Call a chosen module within an outermost one and record it."""
        if self.plan.mode == "tensors":
            self.guarded(lambda: self.take(call, name, visit, "input", _given(args, kwargs)))
            self.guarded(lambda: self.take(call, name, visit, "buffer", state_of(module)))
        if self._wants_precise(module):
            self.guarded(lambda: self.take_precise(call, name, visit, original, module, args, kwargs, _copied))
        return self.chosen(call, name, visit, original, module, args, kwargs)

    def chosen(
        self, call: Call, name: str, visit: int, original: Original, module: nn.Module, args: Any, kwargs: Any
    ) -> Any:
        """Call a module and record what it returns."""
        out = original(module, *args, **kwargs)
        self.guarded(lambda: self._take_output(call, name, visit, module, args, kwargs, out))
        return out

    def _wants_precise(self, module: nn.Module) -> bool:
        """Whether a module's result in float64 is wanted: of what is made of several operations, or of unknown ones; bounds of the others are known."""
        return self.plan.precise and self.plan.mode == "tensors" and operations.is_composed(module)

    def take_precise(
        self, call: Call, name: str, visit: int, original: Original, module: nn.Module, args: Any, kwargs: Any, state: Change
    ) -> None:  # fmt: skip
        """Record what a module makes of its arguments in float64."""
        try:
            out = precise.of_module(original, module, args, kwargs, state)
        except Exception as error:
            self.session.note(f"{name} cannot be run in float64: {type(error).__name__}: {str(error)[:200]}")
            return
        self.take(call, name, visit, "output", out, run="precise")

    def attention(self, original: Original, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call scaled_dot_product_attention and record it as a part of the module that calls it."""
        call = self.current
        if call is None or self.busy or self.session.stopped or threading.get_ident() != self.thread:
            return original(*args, **kwargs)
        name = f"{call.inside[-1] if call.inside else call.root}.attention()"
        if not self.plan.chooses(name):
            return original(*args, **kwargs)
        visit = call.visits[name]
        call.visits[name] += 1
        return self.function(call, name, visit, original, args, kwargs)

    def function(self, call: Call, name: str, visit: int, original: Original, args: Any, kwargs: Any) -> Any:
        """Call a function that is recorded like a module."""
        if self.plan.mode == "tensors":
            self.guarded(lambda: self.take(call, name, visit, "input", _given(args, kwargs)))
        out = original(*args, **kwargs)
        made = attention_operation(args, kwargs)
        self.guarded(lambda: self.take(call, name, visit, "output", out, operation=made))
        return out

    def _take_output(
        self, call: Call, name: str, visit: int, module: nn.Module, args: Any, kwargs: Any, out: Any
    ) -> None:
        made = operations.of_module(module, (args, kwargs), out)
        self.take(call, name, visit, "output", out, operation=made, outermost=name == call.root)

    def take(
        self, call: Call, name: str, visit: int, role: str, content: Any, *, operation: Any = None, outermost: bool = False, run: str = "propagated"
    ) -> None:  # fmt: skip
        """Record the tensors in `content`."""
        for slot, tensor in values.tensors_in(content):
            ends = outermost or (role == "input" and name == call.root)
            kind = _role(role, slot, tensor, self.vocabularies) if ends else role
            self.take_tensor(call, name, visit, kind, slot, tensor, operation, run)

    def take_tensor(
        self, call: Call, name: str, visit: int, role: str, slot: str, tensor: torch.Tensor, operation: Any, run: str = "propagated",
        placement: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Record one tensor."""
        plain, why = values.plain(tensor)
        dtype = values.name_of(tensor.dtype if plain is None else plain.dtype)
        if plain is None or dtype not in SIZES:
            self.session.note(f"{name}: {slot} is {why or dtype}: it is not recorded")
            return
        shape, blob, dropped = tuple(plain.shape), None, ""
        if self.plan.mode == "tensors":
            blob = self.session.writer.keep(f"{name} {slot}", dtype, shape, values.bytes_of(plain))
            dropped = "" if blob else "budget"
        entry = Entry(
            0, call.number, name, role, slot, dtype, shape, visit, run,
            values.layout_of(plain), {}, blob, dropped, operation, placement or values.placement_of(tensor),
        )  # fmt: skip
        call.entries.append(
            (entry, self._measured(call, tensor, plain, name == call.root) if run == "propagated" else None)
        )

    def _measured(self, call: Call, tensor: torch.Tensor, plain: torch.Tensor, whole: bool) -> Pending:
        """Return the statistics of a tensor: those of the one before, where this is the same (a block returns what its last module does)."""
        version = -1 if tensor.is_inference() else tensor._version
        if call.last is not None:
            known, its_version, pending = call.last
            if known() is tensor and its_version == version >= 0 and not whole:
                return pending
        pending = self.samples.take(plain, whole)
        call.last = (weakref.ref(tensor), version, pending)
        return pending

    def _take_random_state(self, call: Call) -> None:
        self.take_tensor(call, call.root, 0, "buffer", "random.cpu", torch.get_rng_state(), None)
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            self.take_tensor(call, call.root, 0, "buffer", "random.cuda", torch.cuda.get_rng_state(), None)

    def _end(self, call: Call) -> None:
        self.samples.read()
        for entry, pending in call.entries:
            if pending is not None:
                entry.statistics.update(_for(entry, pending.statistics))
        self.session.add([entry for entry, _ in call.entries])
        self.session.describe()

    def guarded(self, work: Callable[[], Any]) -> None:
        """Do the recorder's own work: no gradients, no calls of modules seen, and no trouble of its own in the program."""
        if self.session.stopped:
            return
        before, self.busy = self.busy, True
        try:
            with self.session.lock:
                if torch.is_grad_enabled():
                    with torch.no_grad():
                        work()
                else:
                    work()
        except Exception as error:
            self.session.fail(error)
        finally:
            self.busy = before


def _copied(module: nn.Module, slot: str, tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone()


def _for(entry: Entry, statistics: dict[str, Any]) -> dict[str, Any]:
    """Leave the sketch out where the values are there."""
    return {k: v for k, v in statistics.items() if k != "sketch"} if entry.blob else statistics


def _given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return what a module is given, in the form of its slots."""
    return {**{str(i): each for i, each in enumerate(args)}, **({"kwargs": kwargs} if kwargs else {})}


def state_of(module: nn.Module) -> dict[str, Any]:
    """Return tensors that a module itself keeps beside its parameters: buffers, and attributes such as a cache of keys and values."""
    found: dict[str, Any] = {name: b for name, b in module._buffers.items() if b is not None}
    for name, value in list(vars(module).items()):
        if isinstance(value, torch.Tensor) or (
            isinstance(value, list | tuple) and value and isinstance(value[0], torch.Tensor)
        ):
            found[name] = value
        if len(found) >= _STATE_LIMIT:
            break
    return found


def _role(role: str, slot: str, tensor: torch.Tensor, vocabularies: set[int]) -> str:
    """Return the role of what goes into or comes out of an outermost module."""
    if role == "output" and tensor.is_floating_point() and tensor.ndim > 1:
        named = slot == "logits" or slot.endswith(".logits")
        return "logits" if named or (slot == "0" and tensor.shape[-1] in vocabularies) else role
    whole_numbers = tensor.dtype in (torch.int64, torch.int32)
    if role == "input" and whole_numbers and (slot == "0" or slot.endswith(("input_ids", "tokens"))):
        return "tokens"
    return role


def attention_operation(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the operation of a call of scaled_dot_product_attention."""
    query, key = (args[i] if len(args) > i else kwargs[name] for i, name in enumerate(("query", "key")))
    return operations.of_attention(query, key)


def _passes(module: nn.Module) -> bool:
    """Whether nothing is to be recorded of a call from outside: a recomputation within a backward pass, or nothing that is a model."""
    return torch._C._current_graph_task_id() != -1 or isinstance(module, nn.modules.loss._Loss)


def rank() -> tuple[int, int] | None:
    """Return the process's rank in torch.distributed and how many there are."""
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_initialized() or distributed.get_world_size() < 2:
        return None
    return distributed.get_rank(), distributed.get_world_size()


def install(recorder: Recorder) -> Callable[[], None]:
    """Have every call of a module pass the recorder; return what puts torch back as it was."""
    original = nn.Module.__call__

    @functools.wraps(original)
    def __call__(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return original(self, *args, **kwargs)
        if torch.jit.is_tracing() or _is_capturing():
            recorder.session.note(
                "modules that torch traces or captures into a CUDA graph are not seen then, nor in replays of the graph"
            )
            return original(self, *args, **kwargs)
        return recorder.called(original, self, args, kwargs)

    nn.Module.__call__ = __call__
    attention = nn.functional.scaled_dot_product_attention

    @functools.wraps(attention)
    def scaled_dot_product_attention(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling() or torch.jit.is_tracing() or torch.overrides._is_torch_function_mode_enabled():
            return attention(*args, **kwargs)
        return recorder.attention(attention, args, kwargs)

    nn.functional.scaled_dot_product_attention = scaled_dot_product_attention

    def restore() -> None:
        nn.Module.__call__ = original
        nn.functional.scaled_dot_product_attention = attention

    return restore


def _is_capturing() -> bool:
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()
