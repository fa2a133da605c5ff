"""The kinds of places in which CUDA is used, as a reader of a report thinks of them; each subject of a fact belongs to one."""

from __future__ import annotations

KINDS: dict[str, str] = {
    "cuda": "CUDA C++",
    "ptx": "PTX",
    "python": "Python",
    "package": "packages",
    "binary": "compiled libraries",
    "build": "build files",
    "container": "containers",
    "kubernetes": "Kubernetes",
    "slurm": "Slurm",
    "ci": "CI",
    "monitoring": "monitoring",
    "command": "commands and environment",
    "other": "other",
}
"""Every kind with its words, in the order of a report."""

_OF: dict[str, str] = {
    "cuda": "cuda", "ptx": "ptx", "python": "python", "torch": "python", "triton": "python", "cupy": "python", "numba": "python", "jax": "python",
    "tensorflow": "python", "tensorrt": "python", "package": "package", "wheel": "package", "installed": "package", "binary": "binary", "build": "build",
    "image": "container", "docker": "container", "oci": "container", "container": "container", "compose": "container", "k8s": "kubernetes",
    "helm": "kubernetes", "kustomize": "kubernetes", "slurm": "slurm", "ci": "ci", "metric": "monitoring", "dashboard": "monitoring",
    "grafana": "monitoring", "promql": "monitoring", "env": "command", "command": "command", "path": "command",
}  # fmt: skip


def kind_of(subject: str) -> str:
    """Return the kind of a subject: `cuda.api` is `cuda`; what nobody listed is `other`."""
    return _OF.get(subject.partition(".")[0], "other")
