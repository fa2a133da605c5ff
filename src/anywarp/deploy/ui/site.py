"""The pages: what is read from the store and from rollouts, and made into HTML. Each takes what an address says and returns a whole page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anywarp import pages
from anywarp.check.headlines import headline
from anywarp.check.store import Run, Store, opened
from anywarp.deploy.ui import codes, moving
from anywarp.deploy.ui.shown import KINDS, TITLES, report_of, sources_of
from anywarp.migrate.shown import shorten

_HERE = Path(__file__).parent
_NEWEST = 5
_MOST = 500

_HINTS = {
    "verify": "anywarp verify holds a program against a recording of another machine.",
    "bench": "anywarp bench measures a model, a command or an endpoint.",
    "cost": "anywarp cost says what a move saves, from what bench measured.",
    "assess": "anywarp assess --keep finds what depends on CUDA.",
    "organisation": "anywarp fleet assess finds an order in which many repositories, images and namespaces move.",
    "fleet": "anywarp fleet run verifies, measures and assesses on many machines.",
}


def _page(name: str, /, **values: Any) -> str:
    made = pages.environment(_HERE)
    made.filters["shortened"] = shorten  # pyright: ignore[reportArgumentType]
    return made.get_template(name).render(values, kinds=KINDS, titles=TITLES)


def overview() -> str:
    """Return the first page: rollouts, and the newest results of each kind."""
    with opened() as store:
        groups = [(kind, title, *_some(store, kind, _NEWEST)) for kind, title in TITLES.items() if kind != "rollout"]
    return _page("overview.html", groups=groups, hints=_HINTS, rollouts=moving.rollouts())


def results(asked: Mapping[str, str]) -> str:
    """Return the page of results of a kind, or that contain a text."""
    kind, text = asked.get("kind", ""), asked.get("text", "")[:200]
    kind = kind if kind in TITLES else ""
    with opened() as store:
        found, all = store.list(kind, limit=_MOST, text=text), store.count(kind, text)
    rows = [(run, headline(run)) for run in found]
    more = all if all > len(found) else 0
    return _page("results.html", runs=rows, more=more, asked={"kind": kind, "text": text})


def result(identity: str, changes: bool) -> str:
    """Return the page of a result; AnywarpError (V032) where there is none."""
    run = _run(identity)
    facts = [
        ("When", pages.moment(run.time)), ("Of", run.model), ("Device", run.device), ("Type", run.dtype), ("Machine", run.machine), ("Digest of what was run", run.digest),
        ("Versions", _listed(run.versions)), ("Flags", _listed(run.flags)), ("Written by", f"anywarp {run.anywarp}"),
    ]  # fmt: skip
    paged = report_of(run) is not None
    return _page(
        "result.html",
        run=run,
        headline=headline(run),
        facts=[f for f in facts if f[1]],
        sources=sources_of(run),
        paged=paged,
        changes=changes,
    )


def report(identity: str) -> str:
    """Return the page that the result's own command would have written."""
    made = report_of(_run(identity))
    if made is None:
        raise codes.problem(codes.MISSING, f"the result {identity} has no page of its own")
    try:
        return made()
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise codes.problem(
            codes.MISSING,
            f"the result {identity} is not in a form that this anywarp can draw: {type(error).__name__} {error}"[:300],
        ) from error


def as_json(identity: str) -> dict[str, Any]:
    """Return a result as `anywarp results show --format json` does."""
    return _run(identity).as_json()


def remove(identity: str) -> str:
    """Remove a result; return where to go on."""
    with opened() as store:
        store.remove(identity)
    return "/results"


def rollout(name: str, still: bool, changes: bool) -> str:
    """Return the page of a rollout; AnywarpError (Y132) where there is none."""
    seen = moving.look(name)
    return _page(
        "rollout.html",
        one=seen.one,
        facts=seen.facts,
        gates=seen.gates,
        events=seen.events,
        still=still,
        changes=changes,
    )


def rollout_report(name: str) -> str:
    """Return the report of a rollout, as `anywarp rollout report` writes it."""
    return moving.report(name)


def abort(name: str) -> str:
    """Have a rollout end, and its traffic go back; return where to go on."""
    moving.abort(name)
    return f"/rollouts/{name}"


def refused(words: str, help: str = "", code: str = "") -> str:
    """Return the page that says why there is no other."""
    return _page("refused.html", words=words, help=help, code=code)


def _run(identity: str) -> Run:
    with opened() as store:
        return store.get(identity)


def _some(store: Store, kind: str, most: int) -> tuple[list[tuple[Run, Any]], int]:
    found, all = store.list(kind, limit=most), store.count(kind)
    return [(run, headline(run)) for run in found], all if all > len(found) else 0


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in values.items())


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(" + _listed(value) + ")"  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(str(each) for each in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return str(value)
