"""Verdicts on what is not code: for each target the answer of the tables, and the same as converting gives."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from anywarp.catalogue.migration import rows
from anywarp.deploy.convert.model import Change, Options, Refusal
from anywarp.deploy.convert.registry import kind_of
from anywarp.migrate.findings import ANSWERS, Use, Verdict
from anywarp.migrate.scan import doors
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts import is_fact, judge_of, judges
from anywarp.migrate.verdicts.rows import CONVERT

MI300 = Target("hip", "gfx942", "7.1")
MI355 = Target("hip", "gfx950", "7.1")
CPU = Target("cpu")
KNOWN = judges()


def verdict(subject: str, name: str, target: Target = MI300, **details: str) -> Verdict:
    judge = judge_of(subject, KNOWN)
    assert judge is not None, subject
    found = judge(Use(subject, name, details=tuple((key.rstrip("_"), value) for key, value in details.items())), target)
    assert found is not None
    return found


def test_torch_is_taken_from_another_index_and_its_pin_is_looked_up() -> None:
    held = [row["version"] for row in rows("torch_wheels") if row["package"] == "torch" and row["release"] == "7.1"]
    free = verdict("package", "torch")
    assert (free.answer, "ROCm 7.1" in free.replacement) == ("re-index", True)
    fits = verdict("package", "torch", specifier=f"=={held[0]}", version=held[0])
    assert fits.answer == "re-index" and held[0] in fits.replacement
    old = verdict("package", "torch", specifier="==1.13.1", version="1.13.1")
    assert old.answer == "re-index" and old.effort == "hours" and "1.13.1" in old.reason
    assert verdict("package", "torch", CPU, version="1.13.1").answer == "replace"
    assert verdict("package", "torch", CPU, version="2.4.0").answer == "re-index"


@pytest.mark.parametrize(
    ("name", "details", "hip", "cpu"),
    [
        ("nvidia-cublas-cu12", {}, "converted", "as-is"),
        ("numba-cuda", {}, "as-is", "as-is"),
        ("pynvml", {}, "as-is", "as-is"),
        ("cupy-cuda12x", {}, "converted", "as-is"),
        ("cupy-cuda12x", {"specifier": "==12.0"}, "replace", "as-is"),
        ("tensorrt", {}, "replace", "no-path"),
        ("flashinfer-python", {}, "no-path", "no-path"),
        ("flash-attn", {}, "rebuild", "no-path"),
        ("nvidia-nccl-cu12", {"where": "lock"}, "re-index", "as-is"),
        ("triton", {"torch": "==1.13"}, "re-index", "as-is"),
        ("my-thing-cu121", {}, "no-path", "no-path"),
    ],
)
def test_packages(name: str, details: dict[str, str], hip: str, cpu: str) -> None:
    assert (verdict("package", name, MI300, **details).answer, verdict("package", name, CPU, **details).answer) == (
        hip,
        cpu,
    )


def test_sizes_of_mig_are_compared_in_figures() -> None:
    small = verdict("k8s.resource", "nvidia.com/mig-1g.10gb")
    assert small.answer == "converted" and small.replacement == "amd.com/cpx_nps4"
    assert "9.3 GiB" in small.reason and "24 GiB" in small.reason  # 10 GB are 10e9 / 2**30 = 9.3 GiB; MI300X/8 is 192/8
    large = verdict("k8s.resource", "nvidia.com/mig-3g.40gb")
    assert large.answer == "replace" and "37.3 GiB" in large.reason  # 40e9 / 2**30
    assert (
        verdict("k8s.resource", "nvidia.com/mig-7g.80gb").replacement == "amd.com/spx_nps1"
    )  # all slices: a whole GPU
    assert "MI350X" in verdict("k8s.resource", "nvidia.com/mig-1g.10gb", MI355).reason
    assert verdict("k8s.resource", "nvidia.com/mig-1g.10gb", Target("hip", "gfx1100", "7.1")).answer == "replace"


def test_clusters() -> None:
    assert verdict("k8s.resource", "nvidia.com/gpu", count="2").replacement == "amd.com/gpu"
    assert verdict("k8s.resource", "nvidia.com/gpu", CPU).answer == "replace"
    assert verdict("k8s.sharing", "timeSlicing").answer == "no-path"
    assert (
        verdict("k8s.label", "nvidia.com/gpu.memory", use="affinity", operator="Gt", value="40000").answer == "replace"
    )
    assert "will have no GPU" in verdict("k8s.freeloading", "watcher", via="NVIDIA_VISIBLE_DEVICES", value="all").reason
    assert verdict("k8s.runtimeclass", "nvidia").answer == "converted"
    assert verdict("k8s.toleration", "nvidia.com/gpu", use="command").answer == "replace"


def test_metrics_have_units_thresholds_and_families() -> None:
    temperature = verdict("metric", "DCGM_FI_DEV_GPU_TEMP")
    assert (temperature.answer, temperature.replacement) == ("converted", "gpu_junction_temperature")
    assert (
        verdict("metric", "DCGM_FI_DEV_GPU_TEMP", Target("hip", "gfx90a", "7.1")).replacement == "gpu_edge_temperature"
    )
    hot = verdict("metric", "DCGM_FI_DEV_GPU_TEMP", threshold="> 85")
    assert hot.answer == "replace" and "> 85" in hot.reason
    assert "uJ" in verdict("metric", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION").reason
    assert verdict("metric", "DCGM_FI_DEV_FB_RESERVED").answer == "replace"
    assert verdict("metric", "DCGM_FI_DEV_GPU_UTIL", CPU).answer == "no-path"


def test_commands_variables_and_images() -> None:
    assert verdict("command.nvidia-smi", "nvidia-smi", arguments="mig -lgi").answer == "no-path"
    assert verdict("command.nvidia-smi", "nvidia-smi", CPU, arguments="-L").answer == "as-is"
    assert "run --trace" in verdict("command.nsys", "nsys", CPU).replacement
    assert verdict("env", "CUDA_VISIBLE_DEVICES", value="0,1").replacement == "HIP_VISIBLE_DEVICES"
    assert verdict("env", "CUDA_VISIBLE_DEVICES", value="GPU-1234").answer == "replace"
    assert verdict("env", "NCCL_DEBUG", value="INFO").answer == "as-is"
    assert verdict("env", "NVIDIA_VISIBLE_DEVICES", where="image").answer == "rebuild"
    base = verdict("image", "nvidia/cuda:12.1.0-devel-ubuntu22.04")
    assert (base.answer, base.replacement) == ("converted", "rocm/dev-ubuntu-22.04:7.1-complete")
    assert verdict("image", "nvidia/cuda@sha256:" + "a" * 64).answer == "replace"
    assert verdict("image", "nvcr.io/nim/x:1").answer == "no-path"
    assert verdict("slurm.gres", "gres", value="gpu:a100:4").answer == "replace"
    assert verdict("slurm.gres", "gres", value="gpu:4").answer == "as-is"


def test_everything_stays_where_the_target_is_nvidia_s_own() -> None:
    for subject in (
        "package",
        "package.index",
        "image",
        "env",
        "command.nvcc",
        "k8s.resource",
        "metric",
        "slurm.module",
        "build.package",
    ):
        assert verdict(subject, "x", Target("cuda")).answer == "as-is"


def test_every_row_of_every_table_gets_an_answer() -> None:
    """What a table has must be judged, whatever its conversion is called."""
    tables = {
        "packages": "package", "environment": "env", "resources": "k8s.resource", "node_labels": "k8s.label", "metrics": "metric",
        "metric_labels": "metric.label", "link_libraries": "build.library",
    }  # fmt: skip
    for table, subject in tables.items():
        for row in rows(table):
            name = (row.get("name") or row["library"]).replace("*", "x")
            for target in (MI300, CPU, Target("hip", "", "7.1")):
                found = verdict(subject, name, target, channel=row.get("channel", ""))
                assert found.answer in ANSWERS and found.reason, (table, name)
    for row in rows("kinds"):
        subject = {"chart": "helm.chart", "runtime-class": "k8s.runtimeclass", "kind": "k8s.kind", "workload": "k8s.workload",
                   "annotation": "k8s.annotation", "device-class": "k8s.dra", "taint": "k8s.toleration"}.get(row["what"])  # fmt: skip
        if subject:
            assert verdict(subject, row["name"]).reason


FILES = {
    "requirements.txt": "torch\nnvidia-cublas-cu12\ntensorrt==10\ncupy-cuda12x\nonnxruntime-gpu==1.17\nflash-attn\nbitsandbytes\n",
    "Dockerfile": "FROM nvidia/cuda:12.1.0-devel-ubuntu22.04\nENV NVIDIA_VISIBLE_DEVICES=all\nENV CUDA_VISIBLE_DEVICES=GPU-12\nENV TORCH_CUDA_ARCH_LIST=8.0\nCOPY --from=nvcr.io/nvidia/tritonserver:24.01-py3 /a /b\n",
    "run.sh": "export CUDA_VISIBLE_DEVICES=0\nexport NVIDIA_TF32_OVERRIDE=0\ndocker run --gpus all nvidia/cuda:12.1.0-base-ubuntu22.04 true\nnvidia-smi mig -lgi\nnvidia-smi -pm 1\n",
    "pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  runtimeClassName: nvidia\n  nodeSelector:\n    nvidia.com/gpu.product: A\n    nvidia.com/gpu.present: 'true'\n  tolerations:\n    - key: nvidia.com/gpu\n      operator: Exists\n  containers:\n    - name: a\n      image: vllm/vllm-openai:v0.8\n      resources:\n        limits:\n          nvidia.com/gpu: 1\n          nvidia.com/mig-1g.10gb: 1\n          nvidia.com/mig-7g.80gb: 1\n          nvidia.com/gpu.shared: 1\n",
    "rules.yaml": "groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: DCGM_FI_DEV_GPU_UTIL > 90\n      - alert: B\n        expr: DCGM_FI_DEV_FB_RESERVED > 1\n      - alert: C\n        expr: avg by (Hostname) (DCGM_FI_PROF_SM_ACTIVE)\n      - alert: D\n        expr: DCGM_FI_DEV_GPU_TEMP > 80\n",
    "docker-compose.yml": "services:\n  a:\n    image: nvidia/cuda:12.1.0-base-ubuntu22.04\n    runtime: nvidia\n    environment:\n      - NVIDIA_VISIBLE_DEVICES=all\n      - CUDA_VISIBLE_DEVICES=0\n  b:\n    image: nvcr.io/nim/x:1\n    command: nvidia-smi mig -lgi\n",
    ".github/workflows/t.yml": "on: push\njobs:\n  t:\n    runs-on: [self-hosted, gpu]\n    container: {image: 'nvidia/cuda:12.1.0-base-ubuntu22.04'}\n    env:\n      CUDA_VISIBLE_DEVICES: '0'\n    steps:\n      - uses: Jimver/cuda-toolkit@v0.2\n      - run: nvidia-smi mig -lgi\n",
    "environment.yml": "name: x\nchannels:\n  - pytorch\n  - nvidia\ndependencies:\n  - python=3.11\n  - pytorch=2.1\n  - pytorch-cuda=12.1\n  - pip:\n      - cupy-cuda12x\n      - tensorrt\n",
    "pyproject.toml": "[project]\nname = 'x'\ndependencies = [\n  'torch',\n  'nvidia-cublas-cu12',\n  'tensorrt',\n  'cupy-cuda12x',\n  'onnxruntime-gpu==1.17',\n  'bitsandbytes',\n]\n",
    "values.yaml": "image:\n  repository: nvidia/cuda\n  tag: 12.1.0-base-ubuntu22.04\nruntimeClassName: nvidia\nresources:\n  limits:\n    nvidia.com/gpu: 1\n    nvidia.com/gpu.shared: 1\nnodeSelector:\n  nvidia.com/gpu.present: 'true'\n",
    "dash.json": '{\n "panels": [\n  {"targets": [{"expr": "avg(DCGM_FI_DEV_GPU_UTIL)"}],\n   "title": "a"},\n  {"targets": [{"expr": "avg(DCGM_FI_DEV_FB_RESERVED)"}],\n   "title": "b"}\n ],\n "schemaVersion": 39, "title": "x", "templating": {"list": []}\n}\n',
    "job.sbatch": "#!/bin/bash\n#SBATCH --gres=gpu:a100:2\n#SBATCH --gpus-per-node=2\nmodule load cuda/12.1\nmodule load cudnn\nmodule load nvhpc\n",
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_assessing_promises_what_converting_does(name: str) -> None:
    """Line by line: `converted` exactly where converting changes the line, a person's work where it refuses to."""
    data, path = FILES[name].encode(), PurePath(name)
    kind = kind_of(path, data)
    assert kind is not None
    changed, refused = set[int](), set[int]()
    for found in kind.convert(data, path, Options(target=MI300)):
        line = data.count(b"\n", 0, found.start) + 1
        if isinstance(found, Change):
            changed.add(line)
        elif isinstance(found, Refusal):
            refused.add(line)
    promised, left = set[int](), set[int]()
    for scanner in doors().scanners:
        for use in scanner.scan(data, path) if scanner.wants(path, data) else ():
            judge = judge_of(use.subject, KNOWN)
            answer = judge(use, MI300) if judge is not None and not is_fact(use.subject) else None
            if answer is None or answer.answer == "as-is":
                continue
            by_tool = answer.answer == "converted" or (answer.answer == "re-index" and answer.help == CONVERT)
            (promised if by_tool else left).add(use.line)
    assert promised <= changed, f"promised, not done: {sorted(promised - changed)}"
    assert not left & changed - refused, f"said to be left, yet done: {sorted(left & changed - refused)}"
    changed -= {place for place, line in enumerate(FILES[name].splitlines(), 1) if line.lstrip().startswith("tag:")}
    assert changed | refused <= promised | left, f"not seen: {sorted((changed | refused) - promised - left)}"


@pytest.mark.parametrize(("asked", "expected"), [(">=1.18", "converted"), ("==1.18.0", "replace"), ("~=x", "replace")])
def test_a_bound_carries_over_where_the_known_version_meets_it(asked: str, expected: str) -> None:
    """onnxruntime-migraphx is known as 1.27.1."""
    assert verdict("package", "onnxruntime-gpu", specifier=asked).answer == expected


def test_a_program_that_asks_nvidia_smi_is_answered() -> None:
    asked = "--query-gpu=name --format=csv"
    assert verdict("command.nvidia-smi", "nvidia-smi", arguments=asked, where="program").answer == "as-is"
    assert verdict("command.nvidia-smi", "nvidia-smi", arguments=asked).answer == "replace"
