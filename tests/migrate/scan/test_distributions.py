"""Scanning installed distributions by their metadata."""

import json
from pathlib import PurePath

import pytest

from anywarp.migrate.scan import distributions


def scan(text, path="site-packages/x-1.dist-info/METADATA"):
    path = PurePath(path)
    assert distributions.wants(path, b"")
    return [(u.name, u.detail("version"), u.detail("variant")) for u in distributions.scan(text.encode(), path)]


def metadata(name, version, *needs):
    return "\n".join(
        [
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}",
            *(f"Requires-Dist: {n}" for n in needs),
            "",
            "Name: other\ncuda",
        ]
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (metadata("torch", "2.4.1+cu121"), [("torch", "2.4.1+cu121", "cu121")]),
        (metadata("torch", "2.13.0+cpu"), [("torch", "2.13.0+cpu", "cpu")]),
        (metadata("torch", "2.9.1+rocm6.4"), [("torch", "2.9.1+rocm6.4", "rocm6.4")]),
        (
            metadata("torch", "2.9.1", "nvidia-cublas-cu12==12.8; platform_system == 'Linux'"),
            [("torch", "2.9.1", "cuda")],
        ),
        (metadata("nvidia-cudnn-cu12", "9.1.0"), [("nvidia-cudnn-cu12", "9.1.0", "")]),
        (metadata("requests", "2.0"), []),
        (metadata("tree-sitter-cuda", "0.21"), []),
        ("nothing", []),
    ],
)
def test_what_is_installed(text, found):
    assert scan(text) == found


def test_conda_s_records():
    record = {"name": "pytorch", "version": "2.1.0", "build": "py3.11_cuda12.1_cudnn8.9_0"}
    assert scan(json.dumps(record), "env/conda-meta/pytorch.json") == [("pytorch", "2.1.0", "cuda12.1")]
    assert scan(json.dumps({"name": "numpy", "version": "1", "build": "py311"}), "conda-meta/numpy.json") == []
    assert scan("[]", "conda-meta/a.json") == scan("{", "conda-meta/a.json") == []
