"""What is wrong on a device is found where it is and called what it is; what is right passes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from check.record import programs, recordings  # noqa: E402


def verified(tmp_path, kind, run, change, dtype, around=lambda run: run(), **options):
    recordings.record(tmp_path / "there", lambda: run(programs.build(kind, dtype)), precise=True)
    model = programs.build(kind, dtype)
    change(model)
    return recordings.replay(tmp_path / "there", tmp_path / "here", lambda: around(lambda: run(model)), **options)


def some(all, plain):
    """Return the rows: those named run in a plain run, all in a long one."""
    return [pytest.param(each, id=each.name, marks=[] if each.name in plain else [pytest.mark.long]) for each in all]


@pytest.mark.parametrize("defect", some(programs.DEFECTS, ("scale in one head", "TF32 operands", "rotary base")))
def test_a_defect_is_found_in_its_place_and_called_by_its_name(defect, tmp_path):
    with defect.beneath():
        report = verified(tmp_path, defect.model, defect.run, defect.change, defect.dtype)
    assert report.grade == "fail", report.reason
    assert report.first is not None and report.first.name in defect.places, report.reason
    assert report.cause is not None and report.cause.name in defect.causes, (report.cause, report.reason)


@pytest.mark.parametrize("variation", some(programs.VARIATIONS, ("sums in two parts", "without oneDNN")))
def test_a_legitimate_difference_passes(variation, tmp_path):
    report = verified(tmp_path, variation.model, variation.run, variation.change, variation.dtype, variation.around)
    assert report.grade == "pass", (report.reason, report.cause)
