"""Judges and convert decide alike: over generated compose files, conda environments and workflows, what a judge alone calls converted
convert changes, what convert changes a judge called converted, and what a person must see to is left and spoken of."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path, PurePath

import pytest

from anywarp.deploy.convert.engine import convert
from anywarp.deploy.convert.model import Change, Note, Options, Refusal
from anywarp.deploy.foretell import settled
from anywarp.migrate.findings import Finding
from anywarp.migrate.scan import doors
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts import is_fact, judge_of, judges
from anywarp.migrate.verdicts.rows import CONVERT

MI300 = Target("hip", "gfx942", "7.1")
KNOWN = judges()

IMAGES = [
    "nvidia/cuda:12.4.1-devel-ubuntu22.04", "nvidia/cuda:11.0-base-centos7", "nvcr.io/nvidia/pytorch:24.05-py3", "nvcr.io/nim/x:1", "python:3.11",
    "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime", "vllm/vllm-openai:v0.10.2", "ollama/ollama", "${IMAGE:-nvidia/cuda:12.4.1-base-ubuntu22.04}",
    "${IMAGE:-vllm/vllm-openai:v0.10.2}", "nvidia/cuda@sha256:" + "a" * 64, "my/own-cuda:1",
]  # fmt: skip
VARIABLES = [
    ("NVIDIA_VISIBLE_DEVICES", "all"), ("NVIDIA_DRIVER_CAPABILITIES", "compute"), ("CUDA_VISIBLE_DEVICES", "0,1"), ("CUDA_VISIBLE_DEVICES", "GPU-12"),
    ("CUDA_LAUNCH_BLOCKING", "1"), ("TORCH_CUDA_ARCH_LIST", "8.0"), ("CUDA_HOME", "/usr/local/cuda"), ("CUDA_HOME", "/opt/mine"),
    ("NCCL_DEBUG", "INFO"), ("UCX_TLS", "tcp,cuda_copy"), ("UCX_TLS", "tcp"), ("UCX_TLS", "gdr_copy"), ("NVIDIA_TF32_OVERRIDE", "0"), ("OTHER", "1"),
]  # fmt: skip
RUNTIMES = ["nvidia", "nvidia-legacy", "runc"]
GPUS = ["all", "2", '"device=0"']
DEVICES = [
    "- driver: nvidia\n  count: all\n  capabilities: [gpu]", "- driver: nvidia\n  count: 1\n  capabilities: [gpu]", "- capabilities: [gpu]",
    '- driver: nvidia\n  device_ids: ["0"]\n  capabilities: [gpu]', "- driver: amd\n  capabilities: [gpu]", "- driver: cdi\n  device_ids:\n    - nvidia.com/gpu=all",
    "- capabilities: [tpu]",
]  # fmt: skip
OPTIONS = ["--gpus all --ipc=host", "--gpus=all", "--runtime nvidia", "--runtime=nvidia --gpus 2", "--ipc=host", "--device nvidia.com/gpu=all", "--device /dev/nvidia0", "--gpus '\"device=0\"'"]  # fmt: skip
RUNNERS = [
    "ubuntu-24.04",
    "[self-hosted, gpu]",
    "[self-hosted, mi300x-gpu]",
    "nvidia-a100",
    "g5.xlarge",
    "linux-b200",
    "${{ matrix.os }}",
]
ACTIONS = ["actions/checkout@v4", "Jimver/cuda-toolkit@v0.2", "me/setup-my-gpu@v1"]
CHANNELS = [
    "nvidia",
    "nvidia/label/cuda-12.1.0",
    "rapidsai",
    "conda-forge",
    "pytorch",
    "https://conda.anaconda.org/nvidia",
]
CONDA = [
    "python=3.11", "pytorch=2.1", "pytorch=2.1=cpu_py311_0", "pytorch-cuda=12.1", "cuda-nvcc", "cuda-runtime=12", "libcublas", "cudatoolkit",
    "cupy", "arrow-cpp=14=*cuda", "jaxlib=0.4=*cuda*", "ffmpeg=6=*_gpu", "nvidia::cuda-cudart", "cuda-python", "numpy", "faiss-gpu=1.8", "rmm",
]  # fmt: skip
PIP = [
    "torch", "torch==2.10.0", "torch==1.13.1", "torch==2.10.0+cu128", "torch>=2.4", "torchvision", "torch==$V", "triton", "xformers", "bitsandbytes",
    "jax[cuda12]", "jax", "tensorflow[and-cuda]", "tensorflow", "tensorrt==10", "flash-attn", "onnxruntime-gpu==1.17", "onnxruntime-gpu", "nvidia-nccl-cu12",
    "cupy-cuda12x==12.0", "cupy-cuda12x>=13", "my-thing-cu121", "numba-cuda", "pynvml", "vllm", "cuda-python", "deepspeed", "nvidia-ml-py", "faiss-gpu",
]  # fmt: skip
INDEXES = ["", "--index-url https://download.pytorch.org/whl/cu128", "--extra-index-url https://download.pytorch.org/whl/cu121", "--extra-index-url https://pypi.nvidia.com", "--index-url https://download.pytorch.org/whl/cpu", "-f https://data.pyg.org/whl/torch-2.4.0+cu121.html"]  # fmt: skip
STEPS = [
    "pip install torch==2.10.0 --index-url https://download.pytorch.org/whl/cu128", "pip install cupy-cuda12x", "nvidia-smi", "nvcc --version", "make",
    "docker run --gpus all nvidia/cuda:12.4.1-base-ubuntu22.04 true", "docker run --gpus 2 python:3.11 true", "docker run --runtime nvidia-legacy python:3.11 true",
    "conda install -c nvidia cuda-runtime", "conda install -c nvidia/label/cuda-12.1.0 pytorch pytorch-cuda=12.1", "mamba create -n nvidia numpy",
    "conda install -c rapidsai cudf", "docker run --device /dev/nvidia0 python:3.11 true",
]  # fmt: skip


def indented(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


def compose(r: random.Random) -> str:
    out = "services:\n"
    for name in "abc"[: r.randint(1, 3)]:
        out += f"  {name}:\n    image: {r.choice(IMAGES)}\n"
        if r.random() < 0.3:
            out += f"    runtime: {r.choice(RUNTIMES)}\n"
        if r.random() < 0.3:
            out += f"    gpus: {r.choice(GPUS)}\n"
        if r.random() < 0.4:
            devices = "".join(f"{one}\n" for one in r.sample(DEVICES, r.choice((1, 1, 1, 2))))
            out += f"    deploy:\n      resources:\n        reservations:\n          devices:\n{indented(devices, 12)}"
        if r.random() < 0.2:
            out += f"    devices:\n      - {r.choice(('/dev/nvidia0', '/dev/snd', 'nvidia.com/gpu=all'))}\n"
        if r.random() < 0.5:
            chosen = r.sample(VARIABLES, 3)
            pairs = dict(chosen).items()
            style = r.choice(("- {}={}", "{}: '{}'"))
            out += "    environment:\n" + "".join(f"      {style.format(n, v)}\n" for n, v in pairs)
    return out


def conda(r: random.Random) -> str:
    channels = "".join(f"  - {one}\n" for one in r.sample(CHANNELS, 2))
    packages = "".join(f"  - {one}\n" for one in r.sample(CONDA, r.randint(1, 4)))
    pip = "".join(
        f"      - {one}\n" for one in r.sample(["cupy-cuda12x", "tensorrt", "numpy", "nvidia-cublas-cu12"], 2)
    )
    more = f"  - pip:\n{pip}" if r.random() < 0.4 else ""
    return f"name: x\nchannels:\n{channels}dependencies:\n{packages}{more}"


def github(r: random.Random) -> str:
    job = f"    runs-on: {r.choice(RUNNERS)}\n"
    if r.random() < 0.6:
        job += f"    container:\n      image: {r.choice(IMAGES)}\n      options: {r.choice(OPTIONS)}\n"
    elif r.random() < 0.5:
        job += f"    container: {r.choice(IMAGES)}\n"
    if r.random() < 0.3:
        job += (
            f"    strategy:\n      matrix:\n        image:\n          - {r.choice(IMAGES)}\n          - ubuntu:24.04\n"
        )
    if r.random() < 0.5:
        name, value = r.choice(VARIABLES)
        job += f"    env:\n      {name}: '{value}'\n"
    steps = f"      - uses: {r.choice(ACTIONS)}\n" + "".join(f"      - run: {one}\n" for one in r.sample(STEPS, 2))
    return f"on: push\njobs:\n  t:\n{job}    steps:\n{steps}"


def installs(r: random.Random) -> str:
    chosen = " ".join(r.sample(PIP, r.choice((1, 1, 2))))
    return f"t:\n  script:\n    - pip install {chosen} {r.choice(INDEXES)}\n"


def gitlab(r: random.Random) -> str:
    image = r.choice(
        (f"  image: {r.choice(IMAGES)}\n", f"  image:\n    name: {r.choice(IMAGES)}\n    entrypoint: ['']\n")
    )
    tags = f"  tags:\n    - {r.choice(('gpu', 'a100', 'docker', 'rocm-gpu', 'p4d.24xlarge'))}\n"
    script = "".join(f"    - {one}\n" for one in r.sample(STEPS, 2))
    name, value = r.choice(VARIABLES)
    return f"t:\n{image}{tags}  variables:\n    {name}: '{value}'\n  script:\n{script}"


FILES = {
    "docker-compose.yml": compose, "stack.yaml": compose, "environment.yml": conda, "gpu.yaml": conda, ".github/workflows/t.yml": github,
    ".gitlab-ci.yml": gitlab,
}  # fmt: skip


def lines_of(data: bytes, start: int, end: int) -> range:
    return range(data.count(b"\n", 0, start) + 1, data.count(b"\n", 0, max(start, end - 1)) + 2)


def verdicts(data: bytes, path: PurePath) -> list[Finding]:
    """Return what judges say, who see one place at a time."""
    found: list[Finding] = []
    for scanner in doors().scanners:
        for use in scanner.scan(data, path) if scanner.wants(path, data) else ():
            judge = judge_of(use.subject, KNOWN)
            said = judge(use, MI300) if judge is not None and not is_fact(use.subject) else None
            if said is not None:
                found.append(Finding(str(path), use, said))
    return found


def disagreements(data: bytes, path: PurePath, said: list[Finding]) -> Iterator[str]:
    """Yield the lines of which convert makes something else than what is said of them."""
    promised, left = set[int](), set[int]()
    for one in said:
        if one.verdict.answer != "as-is":
            tool = one.verdict.answer == "converted" or (
                one.verdict.answer == "re-index" and one.verdict.help == CONVERT
            )
            (promised if tool else left).add(one.use.line)
    done = convert(data, path, Options(MI300))
    changes = [c for c in done.changes if c.end > c.start]
    changed = {line for c in changes for line in lines_of(data, c.start, c.end)}
    spoken = {
        n for f in done.findings if isinstance(f, Refusal | Note | Change) for n in lines_of(data, f.start, f.end)
    }
    text = data.decode().splitlines()
    yield from (f"promised and not changed: {text[n - 1]}" for n in promised - changed)
    for change in changes:
        lines = lines_of(data, change.start, change.end)
        if not promised & set(lines):
            yield f"changed and not promised: {text[lines[0] - 1]}"
    yield from (f"left and not spoken of: {text[n - 1]}" for n in left - spoken)


def shown(wrong: list[str]) -> str:
    return "\n".join(sorted({f"{wrong.count(one):4} {one}" for one in wrong}, reverse=True))


@pytest.mark.parametrize("name", FILES)
def test_judges_and_convert_decide_alike(name: str) -> None:
    r = random.Random(name)
    path, wrong, converted = PurePath(name), list[str](), 0
    for _ in range(150):
        data = FILES[name](r).encode()
        said = verdicts(data, path)
        wrong += disagreements(data, path, said)
        converted += sum(one.verdict.answer == "converted" for one in said)
    assert not wrong, shown(wrong)
    assert converted > 100


def test_what_moves_together_is_said_of_the_whole_command(tmp_path: Path) -> None:
    """Of torch's family and its index judges see one at a time: there what assess says is what converting the file makes of it."""
    r, wrong, promised = random.Random(3), list[str](), 0
    place = tmp_path / ".gitlab-ci.yml"
    for _ in range(150):
        place.write_text(installs(r))
        said = settled(verdicts(place.read_bytes(), place), MI300, str)
        wrong += (one for one in disagreements(place.read_bytes(), place, said) if not one.startswith("changed"))
        promised += sum(one.verdict.help == CONVERT for one in said)
    assert not wrong, shown(wrong)
    assert promised > 50
