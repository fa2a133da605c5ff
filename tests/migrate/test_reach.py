"""Which deployments a finding reaches, from facts as scanners give them."""

import pytest

from anywarp.migrate.findings import Use
from anywarp.migrate.reach import connect


def use(subject, name, line=1, **details):
    pairs = [
        (key.rstrip("_"), one)
        for key, value in details.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    return Use(subject, name, line, 1, "", tuple(pairs))


def workload(name, line=1, kind="k8s", **details):
    return use("deploy.workload", name, line, kind=kind, **details)


CUDA = use("cuda.api", "cudaMalloc", 7)

TREE = [
    ("deploy/app.yaml", workload("Deployment/llm", 1, image=["ghcr.io/acme/llm:1.2", "busybox"])),
    ("deploy/app.yaml", use("k8s.resource", "nvidia.com/gpu", 20)),
    ("deploy/app.yaml", workload("Job/train", 30, image="registry.acme.io/train@sha256:00")),
    ("deploy/app.yaml", use("k8s.resource", "nvidia.com/gpu", 44)),
    ("docker/llm/Dockerfile", use("docker.from", "acme-base", 1)),
    ("docker/llm/Dockerfile", use("docker.copy", "requirements.txt", 2, dest="/app/")),
    ("docker/llm/Dockerfile", use("docker.copy", "src/*.py", 3, dest="/app/")),
    ("docker/llm/Dockerfile", use("docker.copy", "/wheels/", 4, dest="/w", from_="builder")),
    ("docker/llm/Dockerfile", use("docker.requirements", "requirements.txt", 5)),
    ("docker/llm/requirements.txt", use("deploy.include", "more.txt")),
    ("docker/llm/requirements.txt", use("package", "flash_attn", 2)),
    ("docker/llm/more.txt", use("package", "cupy-cuda12x", 1)),
    ("docker/llm/src/serve.py", use("torch.name", "torch.cuda")),
    ("docker/llm/wheels/x.cu", CUDA),
    ("docker/base/Dockerfile", use("docker.from", "nvidia/cuda:12.4.0-devel-ubuntu22.04", 1)),
    ("ci/.gitlab-ci.yml", use("docker.build", "acme-base:latest", context="docker/base", dockerfile="docker/base/Dockerfile")),
    ("train/Dockerfile", use("docker.from", "python:3.11", 1)),
    ("train/Dockerfile", use("docker.copy", ".", 2, dest="/")),
    ("train/kernels/a.cu", CUDA),
    ("other/kernel.cu", CUDA),
    ("dist/flash_attn-2.7.4-cp311-cp311-linux_x86_64.whl!/flash_attn/x.so", use("binary.fatbin", "sm_80")),
]  # fmt: skip


def reached(path, line=None, tree=TREE):
    where = connect(tree)
    found = [u for p, u in tree if p == path and (line is None or u.line == line)]
    assert found, path
    return where.reaches(path, found[0])


LLM, TRAIN = ("k8s:Deployment/llm",), ("k8s:Job/train",)


@pytest.mark.parametrize(
    ("path", "line", "names"),
    [
        ("deploy/app.yaml", 20, LLM),
        ("deploy/app.yaml", 44, TRAIN),
        ("docker/llm/Dockerfile", 1, LLM),
        ("docker/llm/requirements.txt", 2, LLM),
        ("docker/llm/more.txt", 1, LLM),
        ("docker/llm/src/serve.py", 1, LLM),
        ("docker/llm/wheels/x.cu", 7, ()),
        ("docker/base/Dockerfile", 1, LLM),
        ("train/kernels/a.cu", 7, TRAIN),
        ("other/kernel.cu", 7, ()),
        ("dist/flash_attn-2.7.4-cp311-cp311-linux_x86_64.whl!/flash_attn/x.so", 1, LLM),
    ],
)
def test_a_finding_reaches_what_its_file_ends_up_in(path, line, names):
    assert reached(path, line) == names


def test_deployments_are_listed_with_their_images():
    listed = {d.id: d.images for d in connect(TREE).deployments}
    assert listed == {
        "k8s:Deployment/llm": ("ghcr.io/acme/llm:1.2", "busybox"),
        "k8s:Job/train": ("registry.acme.io/train@sha256:00",),
    }


def test_a_batch_script_reaches_its_program_and_the_code_beside_it():
    tree = [
        ("jobs/train.sbatch", workload("llama", 1, "slurm")),
        ("jobs/train.sbatch", use("slurm.gres", "gpu:8", 3)),
        ("jobs/train.sbatch", use("deploy.command", "srun bash ../run.sh", 9)),
        ("run.sh", use("deploy.command", "torchrun src/train.py", 2, script="src/train.py")),
        ("src/train.py", use("torch.name", "torch.cuda")),
        ("src/model.py", use("torch.name", "torch.cuda.Stream")),
        ("src/deep/other.py", CUDA),
        ("tools/x.py", CUDA),
    ]
    everything = {path: connect(tree).reaches(path, u) for path, u in tree}
    assert {p for p, names in everything.items() if names == ("slurm:llama",)} == {
        "jobs/train.sbatch",
        "run.sh",
        "src/train.py",
        "src/model.py",
    }


def test_values_of_a_chart_reach_its_workloads_and_name_their_images():
    tree = [
        ("chart/templates/deployment.yaml", workload("Deployment/{{ .Release.Name }}", kind="helm")),
        ("chart/values.yaml", use("image", "vllm/vllm-openai:v0.9", 4)),
        ("chart/values-prod.yaml", use("k8s.resource", "nvidia.com/gpu", 2)),
        ("chart/README.md", CUDA),
        ("img.tar!/manifest.json", use("oci.tag", "vllm/vllm-openai:v0.9")),
        ("img.tar!/app/lib.so", use("binary.fatbin", "sm_90")),
    ]
    name = ("helm:Deployment/{{ .Release.Name }}",)
    assert reached("chart/values.yaml", 4, tree) == name
    assert reached("chart/values-prod.yaml", 2, tree) == name
    assert reached("img.tar!/app/lib.so", None, tree) == name
    assert reached("chart/README.md", 7, tree) == ()


def test_images_that_build_on_each_other_in_a_circle_end():
    tree = [
        ("a/Dockerfile", use("docker.from", "b")),
        ("b/Dockerfile", use("docker.from", "a")),
        ("compose.yaml", workload("one", kind="compose", image="a")),
        ("r.txt", use("deploy.include", "r.txt")),
    ]
    assert reached("b/Dockerfile", None, tree) == ("compose:one",)


def test_a_guess_with_two_candidates_is_not_made():
    tree = [
        ("x/app/Dockerfile", use("docker.from", "python")),
        ("y/app/Dockerfile", use("docker.from", "python")),
        ("k.yaml", workload("Deployment/app", image="ghcr.io/z/app:1")),
    ]
    assert reached("x/app/Dockerfile", None, tree) == ()
