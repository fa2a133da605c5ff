"""The schemas of Kubernetes have the last word on converted manifests, as far as they know the kind."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from anywarp.cli.main import call
from anywarp.deploy.convert import registry, tree
from anywarp.deploy.convert.engine import convert
from anywarp.deploy.convert.model import Change, Options
from anywarp.deploy.convert.validation import validate
from anywarp.migrate.tree import File

pytest.importorskip("kubernetes_validate")

CASES = Path(__file__).parents[2] / "cases" / "convert" / "kubernetes"
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      runtimeClassName: nvidia
      containers:
        - name: c
          image: example.org/app:1
          env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}, {name: A, value: b}]
          resources: {limits: {nvidia.com/gpu: 1}}
"""


def run_of(text: str) -> tree.Run:
    converted = convert(text.encode(), PurePath("a.yaml"), Options())
    return tree.Run(Path(), [tree.Result(File("a.yaml", "a.yaml", len(text)), converted)])


def test_a_converted_deployment_is_valid() -> None:
    found = validate(run_of(DEPLOYMENT))
    assert (found.documents, found.unknown, found.errors) == (1, 0, [])


def test_what_the_conversion_broke_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    at = DEPLOYMENT.index("selector:")
    breaks = Change(at, at + len("selector"), b"selektor", "a mistake")
    monkeypatch.setattr(registry.kind("kubernetes"), "convert", lambda *_: iter([breaks]))
    found = validate(run_of(DEPLOYMENT))
    assert found.documents == 0
    assert len(found.errors) == 1 and found.errors[0].startswith("a.yaml, document 1: ")


def test_a_broken_result_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Files are converted in processes of their own, so that the mistake is made in this one and handed to the command."""
    (tmp_path / "a.yaml").write_text(DEPLOYMENT)
    assert call(["convert", str(tmp_path)]) == 0
    at = DEPLOYMENT.index("selector:")
    breaks = Change(at, at + len("selector"), b"selektor", "a mistake")
    monkeypatch.setattr(registry.kind("kubernetes"), "convert", lambda *_: iter([breaks]))
    broken = run_of(DEPLOYMENT)
    monkeypatch.setattr(tree, "run", lambda *_, **__: broken)
    assert call(["convert", str(tmp_path), "--only", "kubernetes"]) == 1


def test_what_was_invalid_before_is_not_blamed_on_the_conversion() -> None:
    found = validate(run_of(DEPLOYMENT.replace("selector:", "selektor:")))
    assert (found.documents, found.unknown, found.errors) == (0, 1, [])


def test_a_custom_resource_is_counted_as_not_validated() -> None:
    found = validate(run_of("apiVersion: ray.io/v1\nkind: RayCluster\nspec: {limits: {nvidia.com/gpu: 1}}\n"))
    assert (found.documents, found.unknown, found.errors) == (0, 1, [])


def test_every_case_that_was_valid_still_is() -> None:
    checked = 0
    for path in sorted(CASES.glob("*.txt")):
        before = path.read_bytes().decode().partition("=== before\n")[2].partition("=== ")[0]
        found = validate(run_of(before))
        assert found.errors == [], path.name
        checked += found.documents
    assert checked >= 30
