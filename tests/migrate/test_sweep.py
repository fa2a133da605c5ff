"""What mentions CUDA is found, or named as not looked at: in files of any kind, however they are written."""

import pytest

from anywarp.migrate.assess import Plan, assess
from anywarp.migrate.report.words import text as in_words
from anywarp.migrate.summary import summarize
from anywarp.migrate.target import parse_target

GO = """package main

// a comment about CUDA
// #cgo LDFLAGS: -lcudart
import "C"
import "github.com/NVIDIA/go-nvml/pkg/nvml"

const resource = "nvidia.com/gpu"

var image = "nvcr.io/nvidia/pytorch:24.05-py3"

func f() { exec.Command("nvidia-smi", "-L"); os.Getenv("NVIDIA_VISIBLE_DEVICES") }
"""
PYTHON = """IMAGES = {
    "cuda": "nvidia/cuda:12.4.1-devel-ubuntu22.04",
    "limits": {"nvidia.com/gpu": 1},
}
"""
UNIT = """[Unit]
After=nvidia-persistenced.service
[Service]
Environment=CUDA_VISIBLE_DEVICES=0 "NVIDIA_VISIBLE_DEVICES=all"
ExecStartPre=-/usr/bin/nvidia-smi -pm 1
ExecStart=/usr/bin/docker run --gpus all nvidia/cuda:12.4.1-base-ubuntu22.04
"""
ANSIBLE = """- hosts: gpus
  vars:
    packages:
      - cuda-toolkit-12-4
    dcgm_pkg_name: "datacenter-gpu-manager"
  tasks:
  - apt:
      name:
        - nvidia-driver-550
        - libnccl2
  - yum: name=datacenter-gpu-manager state=present
"""
HEREDOC = """kubectl apply -f - <<YAML
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100}
  containers:
  - image: nvcr.io/nvidia/pytorch:24.05-py3
    resources: {limits: {nvidia.com/gpu: 1}}
YAML
"""
TEMPLATE = "image: {{ image | default('nvcr.io/nvidia/pytorch:24.05-py3') }}\nlimits: {nvidia.com/gpu: {{ n }}}\n"
STARTED = """#!/bin/sh
sudo -u $SLURM_JOB_USER dcgmi stats -g 1 --enable
watch -n 1 nvidia-smi
timeout -k 5 60 nvidia-smi -q
nice -n 10 env -u X nvidia-smi
killall nvidia-cuda-mps-server
ls | xargs -n 1 nvidia-smi -i
kubectl get node -o=custom-columns=:.metadata.labels.nvidia\\\\.com/gpu\\\\.product
kubectl get nodes -o jsonpath='{.items[*].status.allocatable.nvidia\\.com/gpu}'
"""
CUDA = "#include <cuda_runtime.h>\n__global__ void k() {}\nint main() { cudaMalloc(0, 0); }\n"


READ = [
    ("main.go", GO, {(8, "nvidia.com/gpu"), (10, "nvcr.io/nvidia/pytorch:24.05-py3"), (12, "nvidia-smi"), (12, "NVIDIA_VISIBLE_DEVICES")}),
    ("images.py", PYTHON, {(2, "nvidia/cuda:12.4.1-devel-ubuntu22.04"), (3, "nvidia.com/gpu")}),
    ("gpu.service", UNIT, {(2, "nvidia-persistenced"), (4, "CUDA_VISIBLE_DEVICES"), (4, "NVIDIA_VISIBLE_DEVICES"), (5, "nvidia-smi"),
                           (6, "--gpus"), (6, "nvidia/cuda:12.4.1-base-ubuntu22.04")}),
    ("play.yml", ANSIBLE, {(4, "cuda-toolkit-12-4"), (5, "datacenter-gpu-manager"), (9, "nvidia-driver-550"), (10, "libnccl2"), (11, "datacenter-gpu-manager")}),
    ("up.sh", HEREDOC, {(3, "nvidia.com/gpu.product"), (5, "nvcr.io/nvidia/pytorch:24.05-py3"), (6, "nvidia.com/gpu")}),
    ("pod.yaml.j2", TEMPLATE, {(1, "nvcr.io/nvidia/pytorch:24.05-py3"), (2, "nvidia.com/gpu")}),
    ("etc/50-gpu.prolog", "command -v nvidia-smi || exit 0\nnvidia-smi -L | wc -l\n", {(1, "nvidia-smi"), (2, "nvidia-smi")}),
    ("prolog.d/stats", STARTED, {(2, "dcgmi"), (3, "nvidia-smi"), (4, "nvidia-smi"), (5, "nvidia-smi"), (6, "nvidia-cuda-mps-server"), (7, "nvidia-smi"),
                                 (8, "nvidia.com/gpu.product"), (9, "nvidia.com/gpu")}),
    ("wide.cu", CUDA.encode("utf-16"), {(1, "cuda_runtime.h"), (2, "__global__"), (3, "cudaMalloc")}),
    ("wide.cu", b"\xfe\xff" + CUDA.encode("utf-16-be"), {(1, "cuda_runtime.h"), (2, "__global__"), (3, "cudaMalloc")}),
    ("wide.go", GO.encode("utf-16"), {(8, "nvidia.com/gpu"), (12, "nvidia-smi")}),
]  # fmt: skip
UNREAD = [
    ("notes.conf", "a: 1\ngpu: nvidia a100\ncards: NVIDIA H100\n", 2, 2),
    ("x.rs", "// cuda in a comment\nuse cudarc::driver;\n", 2, 1),
    ("x.nix", "{ pkgs.cudaPackages.cudatoolkit }\n", 1, 1),
]
QUIET = [
    ("README.md", "runs on NVIDIA cards with CUDA\n"),
    ("y.conf", "# nvidia in a comment\nbarracuda = fish\n"),
    ("x.bin", b"\0\0nvidia\0"),
    ("x.cpp", '// cuda\nint main() { puts("no CUDA here"); }\n'),
]


def assessed(folder, files):
    for name, content in files:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return assess(Plan([str(folder)], parse_target("hip:gfx942", "7.1"), keep=False))


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """All of them in one tree, each in a folder of its number."""
    folder = tmp_path_factory.mktemp("tree")
    names = [*((n, c) for n, c, _ in READ), *((n, c) for n, c, _, _ in UNREAD), *QUIET]
    return assessed(folder, [(f"{number}/{name}", content) for number, (name, content) in enumerate(names)])


def of_number(result, number):
    return [(f.use.line, f.use.name) for f in result.findings if f"/{number}/" in f.path]


@pytest.mark.parametrize("number", range(len(READ)), ids=[name for name, _, _ in READ])
def test_names_are_found_where_they_stand(result, number):
    places = of_number(result, number)
    assert READ[number][2] <= set(places)
    assert not result.problems


@pytest.mark.parametrize("index", range(len(UNREAD)), ids=[name for name, _, _, _ in UNREAD])
def test_what_nobody_reads_is_named(result, index):
    name, _, line, count = UNREAD[index]
    number = len(READ) + index
    assert not of_number(result, number)
    [use] = [use for path, use in result.unread if f"/{number}/" in path]
    assert (use.line, use.detail("count")) == (line, str(count))


@pytest.mark.parametrize("index", range(len(QUIET)), ids=[name for name, _ in QUIET])
def test_texts_for_people_and_comments_are_not_named(result, index):
    number = len(READ) + len(UNREAD) + index
    assert not of_number(result, number) and not [path for path, _ in result.unread if f"/{number}/" in path]


def test_a_tree_that_is_not_read_is_not_called_free_of_cuda(tmp_path):
    unread = assessed(tmp_path / "a", [("x.nix", "{ pkgs.cudaPackages.cudatoolkit }\n")])
    words = in_words(unread, summarize(unread))
    assert "nothing found that depends on CUDA" not in words and "x.nix:1" in words
    quiet = assessed(tmp_path / "b", QUIET)
    assert "nothing found that depends on CUDA" in in_words(quiet, summarize(quiet))


def test_the_drivers_folder_is_no_toolkit(tmp_path):
    [finding] = assessed(tmp_path, [("x.sh", "cat /proc/driver/nvidia/version\n")]).findings
    assert "amdgpu" in finding.verdict.replacement and "toolkit" not in finding.verdict.reason
