"""Dockerfiles, shell, compose files and saved images: what is found, on which line, and how files hang together."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.migrate.findings import Use
from anywarp.migrate.layers import visible_uses
from migrate.scan.seen import facts, findings, uses

DOCKERFILE = """# syntax=docker/dockerfile:1
ARG CUDA_VERSION=12.1.0
ARG BASE=nvidia/cuda:${CUDA_VERSION}-devel-ubuntu22.04
FROM --platform=linux/amd64 ${BASE} AS build
ENV NVIDIA_VISIBLE_DEVICES=all \\
    NVIDIA_DRIVER_CAPABILITIES=compute PATH=/usr/local/cuda/bin:$PATH
ARG TORCH_VERSION=2.3.0
RUN apt-get update && \\
    # nvidia-smi in a comment
    apt-get install -y \\
      libcudnn8 && \\
    pip3 install torch==${TORCH_VERSION} --index-url https://example.org/whl/cu121
COPY requirements.txt /app/
RUN pip install -r /app/requirements.txt
RUN <<EOT
pip install cupy-cuda12x
nvidia-smi
EOT
RUN ["pip", "install", "onnxruntime-gpu"]
FROM build AS final
LABEL com.nvidia.volumes.needed=nvidia_driver vendor=NVIDIA
COPY --from=nvidia/cuda:12.1.0-runtime-ubuntu22.04 /x /y
COPY --from=build /a /b
ENTRYPOINT ["python", "-m", "app"]
"""


def test_a_dockerfile_of_several_stages() -> None:
    assert findings("dockerfile", "docker/Dockerfile.gpu", DOCKERFILE) == [
        (4, 29, "image", "nvidia/cuda:12.1.0-devel-ubuntu22.04"),
        (5, 5, "env", "NVIDIA_VISIBLE_DEVICES"),
        (6, 5, "env", "NVIDIA_DRIVER_CAPABILITIES"),
        (6, 45, "path.cuda", "/usr/local/cuda"),
        (11, 7, "package.system", "libcudnn8"),
        (12, 54, "package.index", "https://example.org/whl/cu121"),
        (12, 18, "package", "torch"),
        (16, 13, "package", "cupy-cuda12x"),
        (17, 1, "command.nvidia-smi", "nvidia-smi"),
        (19, 25, "package", "onnxruntime-gpu"),
        (21, 7, "container.label", "com.nvidia.volumes.needed"),
        (22, 13, "image", "nvidia/cuda:12.1.0-runtime-ubuntu22.04"),
    ]
    torch = next(use for use in uses("dockerfile", "Dockerfile", DOCKERFILE) if use.name == "torch")
    assert torch.detail("version") == "2.3.0"


def test_what_an_image_copies_installs_and_starts() -> None:
    assert facts("dockerfile", "Dockerfile", DOCKERFILE) == [
        ("docker.from", "nvidia/cuda:12.1.0-devel-ubuntu22.04"),
        ("docker.copy", "requirements.txt"),
        ("docker.requirements", "/app/requirements.txt"),
        ("docker.from", "build"),
        ("docker.copy", "/x"),
        ("docker.copy", "/a"),
        ("docker.command", "python -m app"),
    ]


def test_shell_commands_and_not_what_is_quoted_or_remarked() -> None:
    text = """#!/bin/bash
# nvidia-smi
export CUDA_VISIBLE_DEVICES=0,1
if command -v nvidia-smi >/dev/null 2>&1; then GPUS=$(nvidia-smi -L | wc -l); fi
docker run --rm --gpus all -e NVIDIA_VISIBLE_DEVICES=all -v /a:/b nvidia/cuda:12.1.0-base-ubuntu22.04 nvidia-smi
cat <<EOT > x
nvidia-smi
EOT
echo "run nvidia-smi please"
docker exec -it box bash -c "\\
  nvidia-smi -q && \\
  apt-get install -y cuda-toolkit-12-4"
MY_CUDA=1 module load cuda/12.1
helm install x nvidia/gpu-operator
"""
    assert findings("shell", "run.sh", text) == [
        (3, 8, "env", "CUDA_VISIBLE_DEVICES"),
        (4, 15, "command.nvidia-smi", "nvidia-smi"),
        (4, 55, "command.nvidia-smi", "nvidia-smi"),
        (5, 17, "container.gpus", "--gpus"),
        (5, 28, "env", "NVIDIA_VISIBLE_DEVICES"),
        (5, 67, "image", "nvidia/cuda:12.1.0-base-ubuntu22.04"),
        (5, 103, "command.nvidia-smi", "nvidia-smi"),
        (11, 3, "command.nvidia-smi", "nvidia-smi"),
        (12, 22, "package.system", "cuda-toolkit-12-4"),
        (13, 23, "slurm.module", "cuda/12.1"),
        (14, 16, "helm.chart", "gpu-operator"),
    ]


def test_compose_gives_gpus_in_three_ways() -> None:
    text = """services:
  a:
    image: nvidia/cuda:12.1.0-base-ubuntu22.04
    runtime: nvidia
    environment:
      - NVIDIA_VISIBLE_DEVICES=all
      - OTHER=1
  b:
    build:
      context: ./b
      dockerfile: Dockerfile.gpu
    command: nvidia-smi -L
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              count: 1
              capabilities: [gpu]
  c:
    image: python:3.11
    gpus: all
    environment: {CUDA_VISIBLE_DEVICES: "0"}
"""
    assert sorted(findings("manifests", "docker-compose.yml", text)) == [
        (3, 12, "image", "nvidia/cuda:12.1.0-base-ubuntu22.04"),
        (4, 14, "container.runtime", "nvidia"),
        (6, 9, "env", "NVIDIA_VISIBLE_DEVICES"),
        (12, 14, "command.nvidia-smi", "nvidia-smi"),
        (17, 23, "container.reservation", "nvidia"),
        (22, 5, "container.gpus", "gpus"),
        (23, 19, "env", "CUDA_VISIBLE_DEVICES"),
    ]
    assert facts("manifests", "docker-compose.yml", text) == [
        ("deploy.workload", "a"),
        ("docker.build", "b"),
        ("deploy.workload", "b"),
        ("deploy.workload", "c"),
    ]


def _layer(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _layout(root: Path) -> Path:
    """Write an OCI layout by hand: the second layer removes a file and a folder of the first and writes another anew."""
    blobs = root / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def put(data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return f"sha256:{digest}"

    first = {
        "app/requirements.txt": b"torch==2.1.0+cu121\n",
        "app/old/requirements.txt": b"cupy-cuda12x\n",
        "app/run.sh": b"nvidia-smi\n",
        "../../escape.sh": b"dcgmi diag\n",
        "var/lib/dpkg/status": b"Package: libcudnn8\nStatus: install ok installed\nVersion: 8.9\n\nPackage: vim\nStatus: install ok installed\n",
    }
    second = {"app/.wh.requirements.txt": b"", "app/.wh.old": b"", "app/run.sh": b"nvidia-smi -L\n"}
    layers = [put(gzip.compress(_layer(first))), put(_layer(second))]
    config = {
        "config": {"Env": ["CUDA_VERSION=12.1.0", "NVIDIA_VISIBLE_DEVICES=all"], "Cmd": ["/app/run.sh"]},
        "rootfs": {},
    }
    manifest = put(
        json.dumps(
            {"config": {"digest": put(json.dumps(config).encode())}, "layers": [{"digest": d} for d in layers]}
        ).encode()
    )
    notes = {"org.opencontainers.image.ref.name": "me/llm:1"}
    (root / "index.json").write_text(json.dumps({"manifests": [{"digest": manifest, "annotations": notes}]}))
    return root


def test_a_saved_image_is_what_its_last_layer_leaves(tmp_path: Path) -> None:
    from anywarp.migrate.assess import Plan, assess
    from anywarp.migrate.target import Target

    result = assess(Plan((str(_layout(tmp_path / "image")),), Target("hip", "gfx942", "7.1"), jobs=1, keep=False))
    found = sorted((finding.use.subject, finding.use.name, finding.use.text) for finding in result.findings)
    assert found == [
        ("command.dcgmi", "dcgmi", "dcgmi diag"),
        ("command.nvidia-smi", "nvidia-smi", "nvidia-smi -L"),
        ("env", "CUDA_VERSION", "CUDA_VERSION=12.1.0"),
        ("env", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES=all"),
        ("image.content", "CUDA 12.1.0", "CUDA_VERSION=12.1.0"),
        ("package.system", "libcudnn8", "Package: libcudnn8"),
    ]
    assert [problem.code for problem in result.problems] == ["M008"] or [
        problem.code for problem in result.problems
    ] == ["M009"]
    assert not (tmp_path / "escape.sh").exists() and not (tmp_path.parent / "escape.sh").exists()


def test_layers_of_docker_save_hide_each_other_and_other_files_stay() -> None:
    def layer(name: str, order: int) -> tuple[str, Use]:
        return "i.tar!/manifest.json", Use("oci.layer", name, details=(("order", str(order)),))

    pairs = [
        layer("a/layer.tar", 0),
        layer("b/layer.tar", 1),
        ("i.tar!/a/layer.tar!/x/y.sh", Use("command.nvcc", "nvcc")),
        ("i.tar!/a/layer.tar!/z/y.sh", Use("command.nvcc", "nvcc")),
        ("i.tar!/b/layer.tar!/x/.wh..wh..opq", Use("oci.whiteout", ".wh..wh..opq")),
        ("other/x/y.sh", Use("command.nvcc", "nvcc")),
    ]
    kept = [path for path, use in visible_uses(pairs) if use.subject == "command.nvcc"]
    assert kept == ["i.tar!/a/layer.tar!/z/y.sh", "other/x/y.sh"]


def test_broken_parts_of_an_image_are_told_and_other_json_is_left_alone() -> None:
    assert uses("oci", "a" * 64, b"{" + b'"a":[' * 100_000) == []
    with pytest.raises(AnywarpError) as caught:
        uses("oci", "a" * 64, b'{"schemaVersion": 2, "layers": [')
    assert caught.value.diagnostic.code == "M050"
    assert uses("oci", "index.json", b'{"manifests": 3}') == []
    assert uses("oci", "index.json", b'{"manifests": [{"annotations": 4}, 5]}') == []
