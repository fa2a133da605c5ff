"""The real scanners and judges over a small tree of everything, from the manifest to the kernel."""

from pathlib import Path

import pytest

from anywarp.migrate.assess import Plan, assess
from anywarp.migrate.findings import ANSWERS
from anywarp.migrate.summary import summarize
from anywarp.migrate.target import parse_target
from anywarp.migrate.verdicts import JUDGES, is_fact, judge_of, judges

TREE = Path(__file__).resolve().parents[1] / "cases" / "assess" / "deployments"


@pytest.fixture(scope="module")
def on_hip():
    return assess(Plan([str(TREE)], parse_target("hip:gfx942", "7.1"), keep=False))


def reaching(result, name):
    start = f"{TREE}/"
    return {(f.path.removeprefix(start), f.use.name) for f in result.findings if name in f.reaches}


LLM = {
    ("docker/llm/Dockerfile", "nvidia/cuda:12.4.1-runtime-ubuntu22.04"),
    ("docker/llm/requirements.txt", "torch"),
    ("docker/llm/requirements-more.txt", "cupy-cuda12x"),
    ("docker/llm/src/serve.py", "torch.cuda.get_device_capability"),
}


def test_a_deployment_is_reached_through_image_dockerfile_and_requirements(on_hip):
    found = reaching(on_hip, "k8s:Deployment/llm-server")
    assert found >= {*LLM, ("deploy/app.yaml", "nvidia.com/gpu")}
    assert not any(path.startswith(("train/", "jobs/", "chart/")) for path, _ in found)


def test_a_compose_service_is_reached_through_its_build(on_hip):
    assert reaching(on_hip, "compose:web") >= LLM
    assert reaching(on_hip, "compose:other") == set()


def test_a_job_is_reached_through_an_image_that_copies_its_whole_context(on_hip):
    found = reaching(on_hip, "k8s:Job/train")
    assert {("train/kernels/a.cu", "cudaFree"), ("train/Dockerfile", "nvcc")} <= found
    assert len([1 for path, _ in found if path == "deploy/app.yaml"]) == 1


def test_a_batch_script_is_reached_by_the_program_it_starts(on_hip):
    found = reaching(on_hip, "slurm:llama")
    assert ("docker/llm/src/serve.py", "torch.cuda.get_device_capability") in found
    assert any(path == "jobs/train.sbatch" for path, _ in found)


def test_the_values_of_a_chart_reach_its_template(on_hip):
    (name,) = {d.id for d in on_hip.deployments if d.path.endswith("templates/deployment.yaml")}
    assert reaching(on_hip, name) >= {("chart/values.yaml", "nvidia.com/gpu")}


@pytest.mark.parametrize("target", ["hip:gfx942", "hip", "cpu", "cuda"])
def test_everything_seen_is_judged_for_every_target(target, on_hip):
    result = on_hip if target == "hip:gfx942" else assess(Plan([str(TREE)], parse_target(target, "7.1")))
    assert dict(result.unjudged) == {} and result.problems == []
    assert all(f.verdict.answer in ANSWERS and f.verdict.reason for f in result.findings)
    if target == "cuda":
        assert {f.verdict.answer for f in result.findings} <= {"as-is"}
    else:
        worst = {row.deployment.id: row.worst for row in summarize(result).deployments}
        assert worst["compose:other"] == "as-is" and worst["k8s:Job/train"] != "as-is"


def test_every_subject_that_scanners_name_has_a_judge():
    """A subject that is misspelt in a scanner would be told as not judged, by chance, in somebody's tree."""
    import re

    known = judges(JUDGES)
    scan = Path(__import__("anywarp.migrate.scan", fromlist=["x"]).__file__).parent
    rooms = {subject.partition(".")[0] for subject in known}
    named = {
        subject
        for path in scan.glob("*.py")
        for subject in re.findall(r'(?:Use|Seen|seen|add)\(\s*"([a-z0-9_]+(?:\.[a-z0-9_-]+)+)"', path.read_text())
    }
    assert len(named) > 20 and {n.partition(".")[0] for n in named} & rooms
    assert [name for name in sorted(named) if not is_fact(name) and judge_of(name, known) is None] == []


HOSTILE = {
    "junk.cu": bytes(range(256)) * 400,
    "latin.cu": b"// caf\xe9 \xff\xfe\nint main() { cudaFree(0); }\n",
    "line.cu": b"cudaMalloc(&a, 1);" * 20_000,
    "deep.py": b"import torch\nx = " + b"(" * 20_000,
    "null.py": b"import torch\n\0torch.cuda.synchronize()\n",
    "deep.ipynb": b'{"cells":' + b"[" * 20_000,
    "bomb.yaml": b"apiVersion: v1\nkind: Pod\na: &a [x, x, x]\n"
    + b"".join(b"%c: &%c [*%c, *%c, *%c, *%c]\n" % ((98 + i, 98 + i) + (97 + i,) * 4) for i in range(20)),
    "flow.yaml": b"apiVersion: v1\nkind: Pod\nx: " + b"[" * 20_000,
    "Dockerfile": b"FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN " + b"a && \\\n" * 5_000,
    "requirements.txt": b"torch" + b"[" * 20_000 + b"\ncupy-cuda12x\n",
    "pyproject.toml": b"[project]\ndependencies = [" + b"[" * 20_000,
    "x.so": b"\x7fELF\x02\x01\x01" + bytes(9) + b"\xff" * 5_000,
    "x.ptx": b".version 8.0\n.target sm_80\n" + b"{" * 20_000,
    "dash.json": b'{"panels":' * 10_000,
    "quote'\"\n.cu": b"void f() { cudaFree(0); }\n",
}


def test_hostile_files_of_every_kind_cost_themselves(tmp_path):
    for name, data in HOSTILE.items():
        (tmp_path / name).write_bytes(data)
    with open(tmp_path / "huge.cu", "wb") as file:
        file.truncate(200_000_000)
    (tmp_path / "loop").symlink_to(tmp_path)
    before = {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in tmp_path.iterdir()}
    result = assess(Plan([str(tmp_path)], parse_target("hip:gfx942", "7.1"), keep=False))
    assert {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in tmp_path.iterdir()} == before
    names = {(f.path.removeprefix(f"{tmp_path}/"), f.use.name) for f in result.findings}
    assert names >= {
        ("latin.cu", "cudaFree"),
        ("line.cu", "cudaMalloc"),
        ("quote'\"\\n.cu", "cudaFree"),
        ("requirements.txt", "cupy-cuda12x"),
        ("Dockerfile", "nvidia/cuda:12.4.1-base-ubuntu22.04"),
    }
    told = {p.code for p in result.problems}
    assert "M003" in told and not told & {"M004", "M005", "M006"}
    assert not any("\n" in f.path or "\n" in f.use.text for f in result.findings)
