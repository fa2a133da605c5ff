"""The price file: YAML in which each number may bring its range, its source and its date, and keeps its line.

What a number is worth hangs on where it is from, so nothing has a hidden default: what is not in the file is not part of the costs, and is said.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from anywarp.check.cost.problems import PRICES, at, problem
from anywarp.diagnostics import Source

LARGEST = 1 << 20
ASSUMED = 0.2
"""The range of a number that states none, as a part of it, for the sensitivities."""


@dataclass(frozen=True)
class Quantity:
    """A number with its range and where it is from: `prices.yaml:12`, or a result's id and the name in it."""

    value: float
    low: float
    high: float
    origin: str
    note: str = ""
    stated: bool = True
    """Whether the range was stated or measured; else it is assumed."""

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        return {"value": self.value, "low": self.low, "high": self.high, "from": self.origin, "note": self.note, "range": "stated" if self.stated else "assumed"}  # fmt: skip


@dataclass(frozen=True)
class Side:
    """What one side costs: `quantities` by name (FIELDS), its name, and until when it is paid for anyhow."""

    name: str
    quantities: Mapping[str, Quantity]
    committed_until: datetime.date | None = None


@dataclass(frozen=True)
class Prices:
    """All of a price file; `shared` are the numbers of power, migration and demand, by section and name."""

    currency: str
    source: Side
    target: Side
    shared: Mapping[str, Quantity]
    start: datetime.date | None
    file: str


FIELDS: Mapping[str, tuple[float, float]] = {
    "price_per_hour": (0, 1e7),
    "utilisation": (1e-6, 1),
    "discount": (0, 1),
    "power_watts": (0, 1e8),
}
"""The numbers of a side, with the least and the most that they can be: the price of what was measured, for an hour; the part of its time in which
it serves; what a commitment takes off the price; its power where that is paid apart."""

SHARED: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "power": {"price_per_kwh": (0, 1000), "pue": (1, 10)},
    "migration": {"hours": (0, 1e7), "rate_per_hour": (0, 1e6), "one_off": (0, 1e12), "overlap_days": (0, 10000)},
    "demand": {"tokens_per_day": (1, 1e18), "inferences_per_day": (1, 1e18), "runs_per_day": (1, 1e18)},
}
_NEEDED = ("price_per_hour", "utilisation")


def read(path: Path) -> Prices:
    """Read a price file; AnywarpError (V042) with the line where it is not right."""
    try:
        if path.stat().st_size > LARGEST:
            raise problem(PRICES, f"{path} is too large for prices")
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise problem(PRICES, f"{path} cannot be read: {error}", "docs/cli/cost.md shows a price file") from None
    return parse(Source(path.name, text))


def parse(source: Source) -> Prices:
    """Return the prices in a text; AnywarpError (V042)."""
    reader = _Reader(source)
    root = reader.load()
    reader.only(root, "the file", ("currency", "source", "target", "power", "migration", "demand"))
    currency = reader.text(root, "currency")
    shared: dict[str, Quantity] = {}
    for section, fields in SHARED.items():
        inner = reader.section(root, section, needed=False)
        extra = ("start",) if section == "migration" else ()
        reader.only(inner, section, (*fields, *extra))
        shared |= {f"{section}.{name}": q for name, q in reader.quantities(inner, fields).items()}
    return Prices(
        currency,
        reader.side(root, "source"),
        reader.side(root, "target"),
        shared,
        reader.date(reader.section(root, "migration", needed=False), "start"),
        source.name,
    )


class _Reader:
    """Reads parts of the file, and knows their lines."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def load(self) -> Any:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError, YAMLError

        reader: Any = YAML(typ="rt", pure=True)
        try:
            root: Any = reader.load(self.source.text)
        except MarkedYAMLError as error:
            told: Any = error
            mark = told.problem_mark or told.context_mark
            raise at(self.source, mark.line + 1 if mark else 1, f"it is no YAML: {told.problem or told}") from None
        except (YAMLError, RecursionError, ValueError, OverflowError) as error:
            raise problem(PRICES, f"{self.source.name} is no YAML: {error}") from None
        if not isinstance(root, dict):
            raise problem(PRICES, f"{self.source.name} holds no prices", "docs/cli/cost.md shows a price file")
        return cast("Any", root)

    def line(self, inside: Any, name: str) -> int:
        """Return the line of a name; where it is missing, of the first name beside it."""
        place = getattr(inside, "lc", None)
        if place is None:
            return 1
        try:
            return place.key(name)[0] + 1
        except (KeyError, TypeError):
            return place.line + 1

    def wrong(self, inside: Any, name: str, text: str, help: str = "") -> Exception:
        return at(self.source, self.line(inside, name), text, help)

    def only(self, inside: Any, what: str, names: tuple[str, ...]) -> None:
        for name in inside:
            if name not in names:
                raise self.wrong(inside, name, f"{what} has no {str(name)[:80]!r}", f"it may have {', '.join(names)}")

    def section(self, root: Any, name: str, needed: bool = True) -> Any:
        found = root.get(name)
        if found is None and not needed:
            return {}
        if not isinstance(found, dict):
            raise self.wrong(root, name, f"{name!r} must be there and have names below it")
        return cast("Any", found)

    def text(self, inside: Any, name: str) -> str:
        found = inside.get(name)
        if not isinstance(found, str) or not 1 <= len(found) <= 80:
            raise self.wrong(inside, name, f"{name!r} must be there, and be a short text")
        return found

    def date(self, inside: Any, name: str) -> datetime.date | None:
        found = inside.get(name)
        if found is None:
            return None
        if isinstance(found, datetime.datetime) or not isinstance(found, datetime.date):
            raise self.wrong(inside, name, f"{name!r} must be a date such as 2027-01-31")
        return found

    def side(self, root: Any, name: str) -> Side:
        inside = self.section(root, name)
        self.only(inside, name, ("name", "committed_until", *FIELDS))
        quantities = self.quantities(inside, FIELDS)
        for needed in _NEEDED:
            if needed not in quantities:
                raise self.wrong(root, name, f"{name!r} must have {needed!r}")
        return Side(self.text(inside, "name"), quantities, self.date(inside, "committed_until"))

    def quantities(self, inside: Any, fields: Mapping[str, tuple[float, float]]) -> dict[str, Quantity]:
        return {name: self.quantity(inside, name, bounds) for name, bounds in fields.items() if name in inside}

    def quantity(self, inside: Any, name: str, bounds: tuple[float, float]) -> Quantity:
        given = inside[name]
        origin = f"{self.source.name}:{self.line(inside, name)}"
        if not isinstance(given, dict):
            value = self.number(inside, name, given, bounds)
            low, high = sorted((value * (1 - ASSUMED), value * (1 + ASSUMED)))
            return Quantity(value, max(low, bounds[0]), min(high, bounds[1]), origin, stated=False)
        known = cast("Any", given)
        self.only(known, name, ("value", "low", "high", "source", "date"))
        numbers = [self.number(known, each, known.get(each, known.get("value")), bounds) for each in ("value", "low", "high")]  # fmt: skip
        value, low, high = numbers
        if not low <= value <= high:
            raise self.wrong(inside, name, f"of {name!r}, low, value and high must rise")
        ranged = "low" in known or "high" in known
        if not ranged:
            low, high = max(value * (1 - ASSUMED), bounds[0]), min(value * (1 + ASSUMED), bounds[1])
        note = ", ".join(str(known[each])[:300] for each in ("source", "date") if each in known)
        return Quantity(value, low, high, origin, note, ranged)

    def number(self, inside: Any, name: str, given: Any, bounds: tuple[float, float]) -> float:
        fine = isinstance(given, int | float) and not isinstance(given, bool)
        if not fine or not math.isfinite(float(given)) or not bounds[0] <= given <= bounds[1]:
            raise self.wrong(inside, name, f"{name!r} must be a number from {bounds[0]:g} to {bounds[1]:g}")
        return float(given)
