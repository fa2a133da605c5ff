"""Recording and verifying in the test's own process: the same hooks as under the command, put in and taken out."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from anywarp.check.bundle import open_bundle
from anywarp.check.record import running
from anywarp.check.record.plan import Plan
from anywarp.check.record.session import Session
from anywarp.check.replay import running as replaying
from anywarp.check.replay.comparing import verify
from anywarp.check.replay.sides import Sides


@contextmanager
def _installed(plan: Plan):
    from anywarp.check.record.torch import calls
    from anywarp.check.replay.torch.again import Again

    session = Session(plan)
    restore = calls.install((Again if plan.reference else calls.Recorder)(session))
    try:
        yield
    finally:
        restore()
        session.finish()


def record(folder: Path, run, **options) -> Path:
    """Record what `run` does into a folder."""
    folder.mkdir(mode=0o700)
    with _installed(Plan(str(folder), **options)):
        run()
    assert running.finished(folder) is not None
    return folder


def replay(reference: Path, beside: Path, run, *, null: Path | None = None, **options):
    """Run on what was recorded, and return the report."""
    beside.mkdir(mode=0o700)
    chosen = replaying.Options(**options)
    with open_bundle(reference) as bundle:
        with _installed(replaying.plan(bundle, beside, (), chosen)):
            run()
        assert running.finished(beside) is not None
        with open_bundle(beside) as observed:
            noise = open_bundle(null) if null else None
            return verify(Sides(bundle, observed, noise, other_weights=chosen.other_weights))
