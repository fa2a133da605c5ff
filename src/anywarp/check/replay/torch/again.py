"""Running a program on a recording's inputs, and each of its modules once more alone.

*Propagated*: the outermost module gets the recorded inputs, and what every module in it returns is kept. *Isolated*: before a module is called,
it runs aside on the inputs that were recorded of itself, so that what it returns differs by its own doing only.
"""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from anywarp.check.bundle import open_bundle
from anywarp.check.record.session import Session
from anywarp.check.record.torch import precise, values
from anywarp.check.record.torch.apart import random_state_kept, state_kept
from anywarp.check.record.torch.calls import Call, Original, Recorder, attention_operation, rank
from anywarp.check.record.torch.operations import is_norm
from anywarp.check.replay import weights
from anywarp.check.replay.torch import magnitudes, shares
from anywarp.check.replay.torch.cutting import NotWhole
from anywarp.check.replay.torch.reference import Reference, WholeReference, chosen

_PARAMETERS = 1 << 16
"""Values of a norm's parameter that are kept for its bound."""


class _Missing(Exception):
    """Something of the recorded inputs is not there."""


class Again(Recorder):
    """A recorder that has a reference."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._reference: Reference | None = None
        self._mode = "tensors"
        self.weights: dict[str, dict[str, str]] = {}
        """Per outermost module, its parameters that are not the recorded ones, and why."""

    @property
    def reference(self) -> Reference:
        """The part of the recording that this process is held against; opened when the first module is called: ranks are known then."""
        if self._reference is None:
            self._reference = chosen(open_bundle(Path(self.plan.reference)), self.plan.part, rank())
        return self._reference

    def meet(self, root: str, module: nn.Module) -> None:
        super().meet(root, module)
        recorded = self.reference.models.get(root)
        if recorded is None:
            self.session.note(f"{root} is not in the recording: nothing of it is compared")
            return
        if not self.reference.is_whole and not weights.laid_alike(recorded, self.session.models[root]):
            self._reference = WholeReference(open_bundle(Path(self.plan.reference)), *(rank() or (0, 1)))
        if self.reference.is_whole:
            return  # compared when all ranks have ended: none has all of it
        differ = weights.differing(recorded.get("parameters") or {}, self.session.models[root]["parameters"])
        if differ:
            self.weights[root] = differ
            self.session.writer.describe(weights=self.weights)
            if not self.plan.other_weights:
                self.session.stopped = True

    def outermost(self, call: Call, original: Original, module: nn.Module, args: Any, kwargs: Any) -> Any:
        """Call an outermost module on the recorded inputs; the program gets what it would have got where these have other shapes than its own."""
        injected: list[Any] = []
        self.guarded(lambda: injected.append(self._injected(call, args, kwargs)))
        if not injected or injected[0] is None:
            return self.chosen(call, call.root, 0, original, module, args, kwargs)
        fits, given, named = injected[0]
        self.guarded(lambda: self._set_random_state(call))
        if self.plan.precise:
            self.guarded(
                lambda: self.take_precise(call, call.root, 0, original, module, given, named, self._state(call))
            )
        if fits:
            return self.chosen(call, call.root, 0, original, module, given, named)
        with random_state_kept(), state_kept(module, lambda m, slot, t: t.clone()):
            try:
                self.chosen(call, call.root, 0, original, module, given, named)
            except Exception as error:
                self.session.note(f"{call.root} does not take the recorded inputs: {str(error)[:200]}")
        before, self.busy = self.busy, True
        try:
            return original(module, *args, **kwargs)
        finally:
            self.busy = before

    def inner(
        self, call: Call, name: str, visit: int, original: Original, module: nn.Module, args: Any, kwargs: Any
    ) -> Any:
        if self.plan.isolated and self.plan.mode == "tensors":
            grad = torch.is_grad_enabled()
            self.guarded(lambda: self._isolated(call, name, visit, original, module, args, kwargs, grad))
        return self.chosen(call, name, visit, original, module, args, kwargs)

    def function(self, call: Call, name: str, visit: int, original: Original, args: Any, kwargs: Any) -> Any:
        made = attention_operation(args, kwargs)
        if self.plan.isolated and self.plan.mode == "tensors":
            self.guarded(lambda: self._isolated_function(call, name, visit, original, args, kwargs, made))
        out = original(*args, **kwargs)
        self.guarded(lambda: self.take(call, name, visit, "output", out, operation=made))
        return out

    def _injected(self, call: Call, args: Any, kwargs: Any) -> tuple[bool, Any, Any] | None:
        slots = self.reference.slots(call.root, call.number, 0, "input")
        if not self.reference.begins(call.root, call.number, self.session.models.get(call.root, {}).get("modules", {})):
            return None
        if not any(entry.blob for entry in slots.values()):
            if self.plan.mode == "tensors":
                self.session.note(
                    f"{call.root}, call {call.number}: the recording has no inputs: the program's own are used"
                )
            return None
        fits, missing = True, list[str]()

        def change(slot: str, tensor: torch.Tensor) -> torch.Tensor:
            nonlocal fits
            entry = slots.get(slot)
            if entry is None or entry.blob is None:
                missing.append(slot)
                return tensor
            try:
                found = self.reference.tensor(entry, tensor)
            except NotWhole as why:
                missing.append(f"{slot} ({why})")
                return tensor
            fits = fits and found.shape == tensor.shape
            return found.requires_grad_(tensor.requires_grad) if tensor.is_floating_point() else found

        given = values.replaced(tuple(args), change, objects=False)
        named = values.replaced(dict(kwargs), change, "kwargs", objects=False)
        if missing:
            self.session.note(
                f"{call.root}, call {call.number}: not in the recording, the program's own is used: {', '.join(missing[:5])}"
            )
        return fits, given, named

    def _set_random_state(self, call: Call) -> None:
        for slot, entry in self.reference.slots(call.root, call.number, 0, "buffer").items():
            if entry.blob is None or not slot.startswith("random."):
                continue
            state = self.reference.tensor(entry, torch.empty(0, dtype=torch.uint8))
            try:
                if slot == "random.cpu":
                    torch.set_rng_state(state)
                elif torch.cuda.is_available():
                    torch.cuda.set_rng_state(state)
            except (RuntimeError, TypeError):
                self.session.note(f"the recorded random state ({slot}) does not fit here: the program's own is used")

    def _recorded(self, name: str, call: Call, visit: int, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return the arguments with their tensors as they were recorded; _Missing."""
        slots = self.reference.slots(name, call.number, visit, "input")

        def change(slot: str, tensor: torch.Tensor) -> torch.Tensor:
            entry = slots.get(slot)
            if entry is None:
                raise _Missing(f"it was not given {slot} when it was recorded")
            if entry.blob is None:
                raise _Missing(f"{slot} did not fit into the recording")
            try:
                return self.reference.tensor(entry, tensor)
            except NotWhole as why:
                raise _Missing(f"{slot}: {why}") from None

        return values.replaced(tuple(args), change), values.replaced(dict(kwargs), change, "kwargs")

    def _state(self, call: Call) -> Any:
        def change(module: nn.Module, slot: str, tensor: torch.Tensor) -> torch.Tensor:
            name = self.names.within(module, call.module, call.root)
            entry = self.reference.slots(name, call.number, 0, "buffer").get(slot)
            if entry is None or entry.blob is None or entry.shape != tuple(tensor.shape):
                return tensor.detach().clone()
            return self.reference.tensor(entry, tensor)

        return change

    def _isolated(
        self, call: Call, name: str, visit: int, original: Original, module: nn.Module, args: Any, kwargs: Any, grad: bool
    ) -> None:  # fmt: skip
        if not self.reference.slots(name, call.number, visit, "output"):
            self.session.note(f"{name} was not recorded in call {call.number}: it is not compared")
            return
        try:
            given, named = self._recorded(name, call, visit, args, kwargs)
            with random_state_kept():
                with (
                    state_kept(module, self._state(call)),
                    torch.set_grad_enabled(grad),
                    shares.watched(module) as share,
                ):
                    out = original(module, *given, **named)
                self.take(call, name, visit, "output", out, run="isolated")
                self._take_share(call, name, visit, module, share)
                given, named = self._recorded(name, call, visit, args, kwargs)
                with state_kept(module, self._state(call)), torch.set_grad_enabled(grad):
                    second = original(module, *given, **named)
            if not _same(out, second):
                self.take(call, name, visit, "output", second, run="again")
        except _Missing as why:
            self.session.note(f"{name}, call {call.number}, is not run alone: {why}")
            return
        except Exception as error:
            self.session.note(
                f"{name}, call {call.number}, cannot be run alone: {type(error).__name__}: {str(error)[:200]}"
            )
            return
        self._bound(call, name, visit, module, args, kwargs)
        if self.plan.precise:
            given, named = self._recorded(name, call, visit, args, kwargs)
            self.take_precise(call, name, visit, original, module, given, named, self._state(call))

    def _bound(self, call: Call, name: str, visit: int, module: nn.Module, args: Any, kwargs: Any) -> None:
        """Keep what the bound of a module's rounding is made of."""
        given, named = self._recorded(name, call, visit, args, kwargs)
        tensors = [t for _, t in values.tensors_in((given, named)) if t.is_floating_point()]
        if len(tensors) == 1 and (sums := magnitudes.of_product(module, tensors[0])) is not None:
            self._take_sums(call, name, visit, module, sums)
        elif is_norm(module):
            for slot, parameter in module._parameters.items():
                if parameter is not None and parameter.numel() <= _PARAMETERS:
                    self.take_tensor(call, name, visit, "parameter", slot, parameter, None)

    def _take_share(self, call: Call, name: str, visit: int, module: nn.Module, share: shares.Share) -> None:
        """Keep this rank's share of a sum over ranks, and what it should be."""
        found = shares.in_float64(module, share)
        if found is None or share.made is None:
            return
        for run, tensor in zip(("isolated", "precise", "magnitude"), (share.made, *found), strict=True):
            self.take_tensor(call, name, visit, "output", shares.SLOT, tensor, None, run)

    def _take_sums(
        self, call: Call, name: str, visit: int, module: nn.Module, sums: tuple[torch.Tensor, torch.Tensor]
    ) -> None:
        """Keep a product's sizes; of a weight that lies over the ranks by its rows they are parts of a sum, of which one rank alone says nothing."""
        placement = magnitudes.summed_over_ranks(module, sums[0])
        if placement is not None and not self.reference.is_whole:
            return
        for run, found in zip(("magnitude", "norm"), sums, strict=True):
            self.take_tensor(call, name, visit, "output", "0", found.float(), None, run, placement)

    def _isolated_function(
        self, call: Call, name: str, visit: int, original: Original, args: Any, kwargs: Any, made: Any
    ) -> None:
        try:
            given, named = self._recorded(name, call, visit, args, kwargs)
            with random_state_kept():
                self.take(call, name, visit, "output", original(*given, **named), run="isolated")
            if self.plan.precise:
                self.take(call, name, visit, "output", precise.of_function(original, given, named), run="precise")
        except _Missing as why:
            self.session.note(f"{name}, call {call.number}, is not run alone: {why}")
        except Exception as error:
            self.session.note(
                f"{name}, call {call.number}, cannot be run alone: {type(error).__name__}: {str(error)[:200]}"
            )


def _same(one: Any, other: Any) -> bool:
    return all(
        a.shape == b.shape and torch.equal(a.nan_to_num(), b.nan_to_num()) if a.is_floating_point() and a.element_size() > 1 else torch.equal(a, b)
        for (_, a), (_, b) in zip(values.tensors_in(one), values.tensors_in(other))
    )  # fmt: skip
