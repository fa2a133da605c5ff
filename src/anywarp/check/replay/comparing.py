"""Holding what a program computed here against a recording, place by place, in the order of execution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, cast, get_args

import numpy as np

from anywarp.check.bundle import Bundle, Entry
from anywarp.check.bundle.problems import shown
from anywarp.check.bundle.recording import Recording
from anywarp.check.numbers.comparing import compare
from anywarp.check.numbers.judging import judge
from anywarp.check.numbers.results import Comparison, Layer, Report
from anywarp.check.numbers.statistics import Statistics, compare_statistics
from anywarp.check.record import copies
from anywarp.check.record.kept import Array, array
from anywarp.check.replay import assembled, language, shares, weights
from anywarp.check.replay.sides import Sides
from anywarp.check.replay.words import about, flags_that_differ
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.numerics.formats import format_of
from anywarp.numerics.operation import Kind, Operation

Key = tuple[str, int, int, str, str]
_SHOWN = 5


def verify(sides: Sides, step: Callable[[int, int], None] = lambda done, total: None) -> Report:
    """Compare two runs of a program and return the verdict; on as many ranks each with the same one, else what the ranks have together.

    AnywarpError: V002, V003, V010, V011, V013.
    """
    layers, notes, spoken = list[Layer](), list[str](), dict[str, Any]()
    told = sides
    for part, each in _parts(sides, notes):
        found, said = _compared(each, step)
        layers += [replace(layer, name=f"{part}: {layer.name}" if part else layer.name) for layer in found]
        notes += [f"{part}: {note}" if part else note for note in said]
        spoken = spoken or language.measure(each) or {}
        told = each
    if not layers:
        refuse_other_weights(sides)  # a replay computes nothing of another model
        text = "nothing of the recording was computed here: no module has the name of a recorded one"
        help = "verify the command that was recorded; the names are in bundle.json, under models"
        raise AnywarpError(Diagnostic("V013", text, help=help))
    return judge(layers, language=spoken or None, about=about(told.reference, told.observed), notes=notes)


def _parts(sides: Sides, notes: list[str]) -> list[tuple[str, Sides]]:
    """Return the recordings within the two that belong together, by name: the whole, its ranks, its further processes."""
    one, other = sides.reference, sides.observed
    if not isinstance(one, Bundle) or not isinstance(other, Bundle):
        return [("", sides)]
    null = sides.null if isinstance(sides.null, Bundle) else None
    ranks = [assembled.ranks(each) for each in (one, other)]
    if ranks[0] != ranks[1] or (ranks[0] and not assembled.laid_alike(one, other)):
        notes.append(
            f"recorded on {_ranks(ranks[0])}, here on {_ranks(ranks[1])}: what the ranks have together is compared"
        )
        return [("", _assembled(sides, one, other, null))]
    found: list[tuple[str, Sides]] = [("", sides)] if one.entries and other.entries else []
    for name in one.parts:
        if name not in other.parts:
            notes.append(f"{name} was recorded, and did not compute anything here")
            continue
        noise = null.part(name) if null is not None and name in null.parts else None
        found.append((name, replace(sides, reference=one.part(name), observed=other.part(name), null=noise)))
    if more := [name for name in other.parts if name not in one.parts]:
        notes.append(f"not in the recording: {', '.join(more[:_SHOWN])}")
    return found


def _ranks(names: list[str]) -> str:
    return f"{len(names)} ranks" if names else "one process"


def _assembled(sides: Sides, one: Bundle, other: Bundle, null: Bundle | None) -> Sides:
    """Return both sides as if each had been one process; V010 where the whole model has other parameters."""
    _refuse(assembled.differing_weights(one, other), sides)
    whole, here, noise = assembled.both(one, other, null)
    return replace(sides, reference=whole, observed=here, null=noise, other_weights=True)


def _compared(sides: Sides, step: Callable[[int, int], None]) -> tuple[list[Layer], list[str]]:
    """Compare two recordings of one process; return the layers in the order of execution, and notes."""
    refuse_other_weights(sides)
    _refuse_unjoined(sides)
    notes = [*sides.reference.notes, *_told(sides.observed), *flags_that_differ(sides.reference, sides.observed)]
    wanted = [e for e in sides.reference.entries if e.role in ("output", "logits") and e.run == "propagated"]
    if not sides.replayed:
        wanted = _with_same_inputs(sides, wanted, notes)
    observed = _by_run(sides.observed)
    null: Mapping[Key, Entry] = sides.null.found if sides.null is not None else {}
    layers, missing, depth = list[Layer](), dict[str, None](), dict[int, int]()
    wrong = _wrong_shares(sides.observed, {entry.name: operation(entry) for entry in wanted})
    for number, entry in enumerate(wanted):
        step(number, len(wanted))
        here = observed.get(entry.key, {})
        if not here:
            missing[f"{entry.name} (call {entry.call})"] = None
            continue
        depth[entry.call] = depth.get(entry.call, 0) + 1
        layers += wrong.pop((entry.name, entry.call), [])
        layers.append(_layer(sides, entry, here, null.get(entry.key), depth[entry.call]))
    if missing:
        notes.append(f"{len(missing)} recorded places were not reached here: {_some(missing)}")
    known = {e.name for e in wanted}
    extra = {e.name: None for e in sides.observed.entries if e.role in ("output", "logits") and e.name not in known}
    if extra:
        notes.append(f"{len(extra)} modules are not in the recording: {_some(extra)}")
    return layers, notes


def _refuse_unjoined(sides: Sides) -> None:
    """Say what of several ranks could not be put together, where that is everything; V013."""
    for side in (sides.reference, sides.observed):
        lost = side.unjoined if isinstance(side, assembled.Assembled) else ""
        if lost and not any(e.role in ("output", "logits") for e in side.entries):
            help = "record and verify on as many ranks, with the same parts of the parameters and of the batch"
            raise AnywarpError(Diagnostic("V013", f"nothing can be compared: {lost}", help=help))


def _wrong_shares(observed: Recording, operations: dict[str, Operation]) -> dict[tuple[str, int], list[Layer]]:
    """Return what ranks add to sums over all of them, where it is wrong."""
    if not isinstance(observed, assembled.Assembled):
        return shares.wrong(observed, "", operations)
    found: dict[tuple[str, int], list[Layer]] = {}
    for rank, each in observed.processes().items():
        for place, layers in shares.wrong(each, rank, operations).items():
            found.setdefault(place, []).extend(layers)
    return found


def refuse_other_weights(sides: Sides) -> None:
    """Raise V010 where the model has other parameters than the recorded one."""
    found: Mapping[str, Mapping[str, str]] = sides.observed.mapping("weights")
    if not sides.replayed:
        found = weights.between({0: sides.reference.mapping("models")}, {0: sides.observed.mapping("models")})
    _refuse(found, sides)


def _refuse(found: Mapping[str, Mapping[str, str]], sides: Sides) -> None:
    if not found or sides.other_weights:
        return
    named = [f"{root}.{name}: {why}" for root, each in found.items() for name, why in each.items()]
    text = f"this is not the model that was recorded: {len(named)} {'parameter differs' if len(named) == 1 else 'parameters differ'}: {'; '.join(map(shown, named[:3]))}"
    help = "give both sides the same weights (a checkpoint, or the same seed), or compare nevertheless with --other-weights"
    raise AnywarpError(Diagnostic("V010", text, help=help))


def _told(bundle: Recording) -> list[str]:
    return [*bundle.notes, *bundle.texts("notes")]


def _some(names: Mapping[str, None]) -> str:
    return ", ".join(shown(name) for name in list(names)[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")


def _by_run(bundle: Recording) -> dict[Key, dict[str, Entry]]:
    found: dict[Key, dict[str, Entry]] = {}
    for entry in bundle.entries:
        key = (
            entry.name,
            entry.call,
            entry.visit,
            "output" if entry.run != "propagated" and entry.role == "logits" else entry.role,
            entry.slot,
        )
        found.setdefault(key, {}).setdefault(entry.run, entry)
        if entry.role == "logits":
            found.setdefault((*key[:3], "logits", entry.slot), {}).setdefault(entry.run, entry)
    return found


def _with_same_inputs(sides: Sides, wanted: list[Entry], notes: list[str]) -> list[Entry]:
    """Leave out the calls whose outermost inputs differ; V011 when that are all."""
    ours = sides.observed.found
    differ = set[tuple[str, int]]()
    given = [e for e in sides.reference.entries if e.role in ("input", "tokens") and e.run == "propagated"]
    roots = set(sides.reference.mapping("models"))
    for entry in given:
        other = ours.get(entry.key)
        if entry.name in roots and (other is None or not _equal(entry, other)):
            differ.add((entry.name, entry.call))
    calls = {(root, e.call) for e in wanted for root in roots if e.name == root}
    if calls and calls <= differ:
        text = "the two recordings were given different inputs"
        help = "record both with the same data, or replay: anywarp verify BUNDLE -- COMMAND"
        raise AnywarpError(Diagnostic("V011", text, help=help))
    if differ:
        text = ", ".join(f"{root} call {call}" for root, call in sorted(differ)[:_SHOWN])
        notes.append(f"calls that were given different inputs are left out: {text}")
    return [e for e in wanted if (_root_of(e.name, roots), e.call) not in differ]


def _root_of(name: str, roots: set[str]) -> str:
    return max((root for root in roots if name == root or name.startswith(root + ".")), key=len, default=name)


def _equal(one: Entry, other: Entry) -> bool:
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    if one.blob and other.blob:
        return one.blob == other.blob
    return all(one.statistics.get(name) == other.statistics.get(name) for name in ("mean", "rms", "minimum", "maximum"))


def _layer(sides: Sides, entry: Entry, here: dict[str, Entry], null: Entry | None, depth: int) -> Layer:
    made = operation(entry)
    # Recordings of before this was recorded do not say it; the module here does.
    made = replace(made, staged=made.staged or any(operation(other).staged for other in here.values()))
    layer = Layer(entry.name, entry.call, entry.slot, made, weights=_weights(sides, entry.name))
    within = replace(made, kind="composite", composed=depth) if depth > 1 else made
    propagated, isolated = here.get("propagated"), here.get("isolated")
    context = _Context(sides, entry, here, null)
    if propagated is not None:
        found = context.compare(propagated, within, isolated=False)
        layer = replace(layer, propagated=_of_bytes(found) if copies.unsaid(entry) else found)
    if isolated is not None:
        layer = replace(layer, isolated=context.compare(isolated, made, isolated=True))
    elif sides.replayed and entry.name not in (sides.reference.mapping("models")):
        layer = replace(layer, note="not run alone")
    return replace(layer, name=_of_rank(sides, layer, entry, isolated or propagated))


def _of_rank(sides: Sides, layer: Layer, entry: Entry, other: Entry | None) -> str:
    """Return a layer's name, with the rank before it where what is wrong is one rank's doing."""
    compared = next((c for c in (layer.isolated, layer.propagated) if c is not None and c.grade != "pass"), None)
    if compared is None or other is None:
        return layer.name
    places = [spot.index for spot in compared.worst if spot.allowed < abs(spot.observed - spot.reference)]
    here, there = sides.observed.owner(other, places), sides.reference.owner(entry, places)
    return f"{here}: {layer.name}" if here else f"recorded {there}: {layer.name}" if there else layer.name


def _of_bytes(found: Comparison) -> Comparison:
    """Return the comparison of bytes of which nobody said what they are: equal ones are right, of others nothing can be told."""
    if found.grade == "pass":
        return found
    reason = f"{found.beyond:,} of {found.count:,} bytes differ; record with --buffer 'NAME:TYPE' to have them compared as numbers"
    return replace(found, grade="warn", reason=reason, fingerprints=())


@dataclass
class _Context:
    """One recorded value and what belongs to it."""

    sides: Sides
    entry: Entry
    here: dict[str, Entry]
    null: Entry | None

    def compare(self, other: Entry, made: Operation, isolated: bool) -> Comparison:
        entry, sides = self.entry, self.sides
        if entry.blob is None or other.blob is None:
            one, two = (_statistics(e) for e in (entry, other))
            return compare_statistics(one, two, made, shape=entry.shape)
        precise = self._precise(made) if isolated or entry.name in sides.reference.mapping("models") else None
        return compare(
            array(sides.reference, entry),
            array(sides.observed, other),
            made,
            magnitude=self._of("magnitude") if isolated else None,
            norm=self._of("norm") if isolated else None,
            precise=precise,
            null=self._null(),
            inputs=self._inputs(made) if isolated else (),
            again=self._of("again") if isolated else None,
            earlier=self._earlier(),
            axes=_axes(entry),
        )  # fmt: skip

    def _of(self, run: str) -> Array | None:
        found = self.here.get(run)
        if found is None or found.blob is None or found.shape != self.entry.shape:
            return None
        return array(self.sides.observed, found)

    def _precise(self, made: Operation) -> Array | None:
        """Return the result in float64, unless it is one of another function than the recorded one.

        Where the recording has it, that. Else it was computed by the program's code here. Where that is wrong by itself, its float64 is wrong, too: then the recorded value lies farther from it than
        its own rounding can explain, and this device's does not.
        """
        if self.entry.dtype == "float64":
            return None  # no more precise than what it would measure
        recorded = self.sides.reference.precise.get((*self.entry.key[:3], self.entry.slot))
        if recorded is not None and recorded.blob is not None and recorded.shape == self.entry.shape:
            return array(self.sides.reference, recorded)
        found = self._of("precise")
        here = self.here.get("isolated") or self.here.get("propagated")
        if found is None or here is None or here.blob is None:
            return found
        reference, observed = array(self.sides.reference, self.entry), array(self.sides.observed, here)
        theirs, ours = (_rms(np.subtract(each, found, dtype=np.float64)) for each in (reference, observed))
        unit = max(_unit(made.operands), _unit(made.output))
        return None if theirs > 8 * ours and theirs > 64 * unit * _rms(found) else found

    def _null(self) -> Array | None:
        if (
            self.null is None
            or self.null.blob is None
            or self.null.shape != self.entry.shape
            or self.sides.null is None
        ):
            return None
        return array(self.sides.null, self.null)

    def _earlier(self) -> Array | None:
        if self.entry.call == 0:
            return None
        name, call, visit, role, slot = self.entry.key
        found = self.sides.reference.found.get((name, call - 1, visit, role, slot))
        if found is None or found.blob is None or found.shape != self.entry.shape:
            return None
        return array(self.sides.reference, found)

    def _inputs(self, made: Operation) -> list[Array | None]:
        """Return the operands: tensors by position, then, for a norm, its weight and bias."""
        name, call, visit, _, _ = self.entry.key
        known = self.sides.reference.found
        slots = [known.get((name, call, visit, "input", slot)) for slot in ("0", "1", "2")]
        given = [array(self.sides.reference, e) if e is not None and e.blob is not None else None for e in slots]
        if made.kind != "norm" and not (made.kind == "pointwise" and made.function == "batch_norm"):
            return given if made.kind == "attention" else given[:1]
        found = {
            e.slot: e for e in self.sides.observed.entries if e.role == "parameter" and e.key[:3] == (name, call, visit)
        }
        parameters = [array(self.sides.observed, found[s]) if s in found else None for s in ("weight", "bias")]
        return [given[0], *parameters]


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64)))) if values.size else 0.0


def _unit(dtype: str) -> float:
    form = format_of(dtype)
    return 2.0**-form.precision if form is not None else 2.0**-24


def _weights(sides: Sides, name: str) -> bool | None:
    differ = sides.observed.manifest.get("weights")
    if differ is None:
        return True if sides.replayed else None
    paths = [f"{root}.{parameter}" for root, each in differ.items() for parameter in each]
    return not any(path.startswith(name + ".") for path in paths)


def _axes(entry: Entry) -> tuple[str, ...]:
    if entry.name.endswith(".attention()") and len(entry.shape) == 4:
        return ("batch", "head", "position", "channel")
    if entry.operation and entry.layout is None and len(entry.shape) == 4 and entry.operation.get("kind") == "product":
        return ("batch", "channel", "row", "column")
    return ()


def operation(entry: Entry) -> Operation:
    """Return what made a recorded value; what a recording says wrongly has its usual value."""
    usual: dict[str, Any] = asdict(Operation(output=entry.dtype))
    for name, value in (entry.operation or {}).items():
        fits = type(value) is type(usual.get(name)) and (type(value) is not int or value >= 0)
        if (
            name in usual
            and fits
            and (name != "kind" or value in get_args(Kind))
            and (name != "reduction" or value > 0)
        ):
            usual[name] = value
    return Operation(**usual)


def _statistics(entry: Entry) -> Statistics:
    found = entry.statistics
    return Statistics(
        count=_count(found, "count"), mean=_real(found, "mean"), rms=_real(found, "rms"),
        minimum=_real(found, "minimum"), maximum=_real(found, "maximum"), quantiles=_reals(found, "quantiles"),
        zeros=_count(found, "zeros"), nan=_count(found, "nan"), infinite=_count(found, "infinite"),
        subnormal=_count(found, "subnormal"), sketch=_reals(found, "sketch"), sketched=_count(found, "sketched"),
        stride=_count(found, "stride") or 1, seed=_count(found, "seed"), noise=_real(found, "noise") if "noise" in found else 0.0,
        run=_count(found, "run") or 1,
    )  # fmt: skip


def _count(found: Mapping[str, Any], name: str) -> int:
    value = found.get(name)
    return value if type(value) is int and value >= 0 else 0


def _real(found: Mapping[str, Any], name: str) -> float:
    value = found.get(name)
    return float(value) if isinstance(value, int | float) else float("nan")


def _reals(found: Mapping[str, Any], name: str) -> tuple[float, ...]:
    value = found.get(name)
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return tuple(float(v) if isinstance(v, int | float) else float("nan") for v in items[:64])
