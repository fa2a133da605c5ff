"""A whole organisation: what needs what, the order with its reasons, what changed, and what is not lost when a run is cut short."""

import json
import os
import subprocess

import pytest

from anywarp.check.store import opened
from anywarp.cli.main import call
from anywarp.deploy.fleet.organisation import names
from anywarp.deploy.fleet.organisation.list_file import read
from anywarp.deploy.fleet.organisation.report import report
from anywarp.diagnostics import AnywarpError
from deploy.image.layouts import Layout, tar

DEPLOYMENT = """
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: llm}
  spec: {replicas: 3, template: {spec: {containers: [{name: a, image: "reg.example/team/serve:7", resources: {limits: {nvidia.com/gpu: 2}}}]}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: llm-1, ownerReferences: [{kind: ReplicaSet, name: llm}]}
  spec: {containers: [{name: a, image: "reg.example/team/serve:7", resources: {limits: {nvidia.com/gpu: 2}}}]}
- apiVersion: batch/v1
  kind: Job
  metadata: {name: train}
  spec: {parallelism: 2, template: {spec: {containers: [{name: t, image: "reg.example/team/train", resources: {limits: {nvidia.com/gpu: "8"}}}]}}}
"""


@pytest.fixture
def organisation(tmp_path):
    place = tmp_path / "org"
    files = {
        "lib/pyproject.toml": '[project]\nname = "our-lib"\ndependencies = ["torch"]\n',
        "base/Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n",
        "serve/requirements.txt": "our_lib>=2\n",
        "serve/Dockerfile": "FROM reg.example/team/base:1\nRUN pip install -r requirements.txt\n",
        "train/Dockerfile": "FROM reg.example/team/base:1\n",
        "train/main.py": "import tensorrt_llm\n",
        "prod.yaml": f"apiVersion: v1\nkind: List\nitems:{DEPLOYMENT}",
    }
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def assessed(place, capsys, *options):
    code = call(["fleet", "assess", str(place), "--format", "json", *options])
    return code, json.loads(capsys.readouterr().out)


def test_an_order_with_reasons_and_what_changes(organisation, tmp_path, capsys):
    page = tmp_path / "page.html"
    code, first = assessed(organisation, capsys, "--target", "hip:gfx942", "--rocm", "7.1", "--html", str(page))
    at = {unit: row["number"] for row in first["rows"] for unit in row["units"]}
    rows = {unit: row for row in first["rows"] for unit in row["units"]}
    assert set(at) == {"lib", "base", "serve", "train", "prod/k8s:Deployment/llm", "prod/k8s:Job/train"}
    assert at["base"] < at["serve"] < at["prod/k8s:Deployment/llm"] and at["lib"] < at["serve"]
    assert at["base"] < at["train"] < at["prod/k8s:Job/train"]
    assert (first["gpus"], rows["base"]["gpus_behind"], rows["lib"]["gpus_behind"], rows["train"]["gpus_behind"]) == (22, 22, 6, 16)  # fmt: skip
    assert any("its package" in reason for reason in rows["serve"]["reasons"]) and any(
        "its image" in r for r in rows["train"]["reasons"]
    )
    assert rows["prod/k8s:Job/train"]["reasons"][-1].startswith("frees 16 GPUs") and first["changes"] is None
    assert "How org moves" in page.read_text() and "<script" not in page.read_text()
    assert code == (1 if first["stuck"] else 0)

    (organisation / "serve/main.py").write_text("import tensorrt_llm\n")
    (organisation / "new").mkdir()
    _, second = assessed(organisation, capsys, "--target", "hip:gfx942", "--rocm", "7.1")
    assert [change for change in second["changes"] if "new in the list: new" in change]
    assert [change for change in second["changes"] if change.startswith("new blocker in serve: tensorrt_llm")]
    with opened() as store:
        assert (store.count("assess"), store.count("organisation")) == (
            5 + 2,
            2,
        )  # what did not change was not assessed again

    (organisation / "serve/main.py").unlink()
    _, third = assessed(organisation, capsys, "--target", "hip:gfx942", "--rocm", "7.1")
    assert [change for change in third["changes"] if change.startswith("gone from serve: tensorrt_llm")] and len(
        third["changes"]
    ) == 1


def test_images_on_disk_are_members_and_come_before_what_runs_them(tmp_path, capsys):
    place = tmp_path / "org"
    place.mkdir()
    config = {"config": {"Env": ["CUDA_VERSION=12.4.1"]}, "rootfs": {"type": "layers", "diff_ids": []}}
    saved = [{"Config": "c.json", "RepoTags": ["reg.example/team/serve:7"], "Layers": []}]
    (place / "saved.tar").write_bytes(
        tar({"manifest.json": json.dumps(saved).encode(), "c.json": json.dumps(config).encode()})
    )
    layout = Layout(place / "layout")
    layout.write(
        {**layout.image({"a": b"1"}), "annotations": {"org.opencontainers.image.ref.name": "reg.example/team/train:1"}}
    )
    (place / "prod.yaml").write_text(f"apiVersion: v1\nkind: List\nitems:{DEPLOYMENT}")
    _, found = assessed(place, capsys)
    needs = {row["units"][0]: row["needs"] for row in found["rows"]}
    assert needs["prod/k8s:Deployment/llm"] == ["saved"] and needs["prod/k8s:Job/train"] == ["layout"]
    assert {row["units"][0]: row["kinds"] for row in found["rows"]}["layout"] == ["image"]


def test_a_circle_is_one_row(tmp_path, capsys):
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / "org" / name).mkdir(parents=True)
        (tmp_path / "org" / name / "pyproject.toml").write_text(
            f'[project]\nname = "{name}"\ndependencies = ["{other}"]\n'
        )
    _, found = assessed(tmp_path / "org", capsys)
    assert [(row["units"], row["circle"]) for row in found["rows"]] == [(["a", "b"], True)]
    assert "in a circle" in found["rows"][0]["reasons"][0]


def test_a_member_that_kills_its_reader_costs_itself(organisation, capsys, monkeypatch):
    from anywarp.deploy.fleet.organisation import running

    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    monkeypatch.setattr(running, "BEGIN", "deadly:begin")
    code, found = assessed(organisation, capsys)
    assert [each["name"] for each in found["not_assessed"]] == ["base"] and len(found["rows"]) == 5
    assert code in (1, 2)
    with opened() as store:
        assert store.count("assess") == 4


def test_a_list_names_members_and_needs(organisation, tmp_path, capsys):
    (tmp_path / "list.yaml").write_text(
        "version: 1\nname: ours\nrepositories: [org/lib, {path: org/base, name: ground}]\nneeds: {lib: [ground]}\n"
    )
    _, found = assessed(tmp_path / "list.yaml", capsys)
    assert [row["units"] for row in found["rows"]] == [["ground"], ["lib"]]
    assert any("as the list says" in reason for reason in found["rows"][1]["reasons"])


def told(kind="repository", offers=(), wants=(), days=1.0, answer=None, workloads=(), unread=0):
    blockers = (
        [{"id": "i", "answer": answer, "name": "N", "path": "p.py", "line": 3, "why": "", "do": "", "days": [1, 2]}]
        if answer
        else []
    )
    rest = {"findings": 0, "days": [0, 0], "blockers": []}
    return {
        "kind": kind, "answers": {}, "days": [days, days], "blockers": blockers, "unread": unread, "offers": list(offers), "wants": list(wants), "rest": rest,
        "workloads": [{"id": i, "gpus": g, "wants": list(w), "worst": "as-is", "findings": 0, "days": [0, 0], "blockers": []} for i, g, w in workloads],
    }  # fmt: skip


def test_what_has_no_path_comes_last_and_so_does_what_needs_it_and_rows_say_so():
    members = {
        "a": told(offers=["package:a"], answer="no-path"),
        "b": told(wants=["package:a"], workloads=[("k8s:Job/b", 64, [])]),
        "c": told(days=40.0),
        "d": told(unread=2, answer="replace"),
        "e": told(answer="replace", workloads=[("slurm:e", 4, [])]),
    }
    made = report("x", "hip", members, {}, {}).as_json()
    assert [row["units"][0] for row in made["rows"]] == ["e", "c", "d", "a", "b"] and made["stuck"] == 2
    last = [" / ".join(row["reasons"]) for row in made["rows"]]
    assert "frees 4 GPUs / risk is middling: a person replaces N" in last[0] and "risk is high: 2 files" in last[2]
    assert (
        "comes late, for it has no path yet: N (p.py:3)" in last[3]
        and "64 GPUs of what needs it wait for it" in last[3]
    )
    assert "comes late, for what it needs has no path yet: a" in last[4]


def test_a_workload_counts_once_where_it_runs_and_where_it_is_declared():
    declared = told(offers=["workload:k8s:Deployment/x"], workloads=[("k8s:Deployment/x", 8, []), ("k8s:Job/y", 2, [])])
    live = told("namespace", workloads=[("k8s:Deployment/x", 6, [])])
    made = report("x", "hip", {"repo": declared, "prod": live}, {}, {}).as_json()
    assert [(row["units"][0], row["gpus"]) for row in made["rows"]] == [("repo", 2), ("prod/k8s:Deployment/x", 6)]
    assert any("it is declared there" in reason for reason in made["rows"][1]["reasons"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version: 1\nname: x\nrepositories: [nowhere]\n", "is not there"),
        ("version: 1\nname: x\nrepositories: [{path: a, name: b}, {path: a, name: b}]\n", "two members are called b"),
        ("version: 1\nname: x\nnamespaces: [{context: c}]\n", "name the namespace"),
        ("version: 1\nname: x\n", "holds nothing to assess"),
        ("version: 1\nname: x\nrepos: []\n", "is no key of a list of an organisation"),
    ],
)
def test_a_list_with_a_mistake_is_refused(text, words, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "l.yaml").write_text(text)
    with pytest.raises(AnywarpError, match=words) as caught:
        read(tmp_path / "l.yaml")
    assert caught.value.diagnostic.code == "Y146"


def test_a_live_namespace_is_asked_of_kubectl_and_one_that_does_not_answer_is_told(tmp_path, capsys, monkeypatch):
    kubectl = tmp_path / "kubectl"
    answer = tmp_path / "answer"
    answer.write_text(f"apiVersion: v1\nkind: List\nitems:{DEPLOYMENT}")
    kubectl.write_text(
        f'#!/bin/sh\n[ "$2" = "--namespace=prod" ] || {{ echo "no such host" >&2; exit 1; }}\ncat "{answer}"\n'
    )
    kubectl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "l.yaml").write_text(
        "version: 1\nname: x\nnamespaces: [{context: c, name: prod}, {context: c, name: other}]\n"
    )
    code, found = assessed(tmp_path / "l.yaml", capsys)
    assert (
        code == 2
        and found["gpus"] == 22
        and found["not_assessed"] == [{"name": "other", "why": "kubectl: no such host"}]
    )


@pytest.mark.parametrize(
    ("name", "text", "offers", "wants"),
    [
        ("pyproject.toml", '[project]\nname = "A.b"\ndependencies = ["c>=1", "d @ git+https://h.example/T/r.git@v1"]\n[build-system]\nrequires = ["e"]\n',
         {"package:a-b"}, {"package:c", "package:d", "package:e", "repository:h.example/t/r"}),
        ("setup.py", 'from setuptools import setup\nsetup(name="a", install_requires=["b", "c[x]==1"], extras_require={"t": ["d"]})\n', {"package:a"}, {"package:b", "package:c", "package:d"}),
        ("setup.py", "def (", set(), set()),
        ("setup.cfg", "[metadata]\nname = a\n[options]\ninstall_requires =\n  b\n  c>1\n", {"package:a"}, {"package:b", "package:c"}),
        ("requirements-dev.txt", "# no\na==1 ; python_version > '3'\n-r other.txt\n-e git+ssh://git@h.example:22/t/r#egg=b\n", set(), {"package:a", "repository:h.example/t/r"}),
        (".gitmodules", '[submodule "x"]\n\turl = git@h.example:t/r.git\n', set(), {"repository:h.example/t/r"}),
        ("CMakeLists.txt", "FetchContent_Declare(x GIT_REPOSITORY https://h.example/t/r.git GIT_TAG v1)\n", set(), {"repository:h.example/t/r"}),
    ],
)  # fmt: skip
def test_manifests_say_what_is_offered_and_wanted(name, text, offers, wants, tmp_path):
    (tmp_path / name).write_text(text)
    offered, wanted = names.of_tree(tmp_path, "m")
    assert offered - {"guess:m"} == offers and wanted == wants


def test_the_remote_of_a_checkout_is_its_name(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", "git@h.example:t/r.git"], check=True)
    assert "repository:h.example/t/r" in names.of_tree(tmp_path, "m")[0]


@pytest.mark.parametrize(
    ("reference", "name"),
    [("a", "image:a"), ("docker.io/library/a:1", "image:a"), ("h:5000/t/a:1@sha256:0", "image:h:5000/t/a"), ("$X/a", None), ("{{ .i }}", None), ("scratch", None)],
)  # fmt: skip
def test_images_go_by_their_names(reference, name):
    assert names.image(reference) == ({name} if name else set())
