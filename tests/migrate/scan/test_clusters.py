"""Kubernetes, Helm, workflows, Slurm, build files, rules and dashboards: what is found and where; what is not CUDA's business is not."""

from __future__ import annotations

import json

import pytest

from migrate.scan.seen import facts, findings, uses

MANIFEST = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: llm
  namespace: prod
  annotations:
    nvidia.com/use-gputype: A100
spec:
  template:
    spec:
      runtimeClassName: nvidia
      # nodeSelector: {nvidia.com/gpu.product: T4}
      nodeSelector:
        nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB
      tolerations:
        - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: nvidia.com/gpu.memory
                    operator: Gt
                    values: ["40000"]
      containers:
        - name: main
          image: vllm/vllm-openai:v0.8.5
          command: ["bash", "-c", "nvidia-smi && vllm serve"]
          env:
            - name: CUDA_VISIBLE_DEVICES
              value: "0"
          resources:
            limits:
              nvidia.com/mig-1g.10gb: 2
              memory: 4Gi
      volumes:
        - hostPath: {path: /usr/local/nvidia/lib64}
---
apiVersion: v1
kind: Pod
metadata: {name: rider}
spec:
  containers:
    - name: watcher
      image: example.org/watcher
      env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: files}
data:
  run.sh: |
    #!/bin/sh
    nvidia-smi -L
  config.yaml: |
    version: v1
    sharing:
      timeSlicing:
        resources:
          - name: nvidia.com/gpu
            replicas: 4
"""


def test_a_manifest_of_three_documents() -> None:
    assert sorted(findings("manifests", "k8s/llm.yaml", MANIFEST)) == [
        (7, 5, "k8s.annotation", "nvidia.com/use-gputype"),
        (11, 25, "k8s.runtimeclass", "nvidia"),
        (14, 9, "k8s.label", "nvidia.com/gpu.product"),
        (16, 17, "k8s.toleration", "nvidia.com/gpu"),
        (22, 26, "k8s.label", "nvidia.com/gpu.memory"),
        (27, 18, "image", "vllm/vllm-openai:v0.8.5"),
        (28, 36, "command.nvidia-smi", "nvidia-smi"),
        (30, 21, "env", "CUDA_VISIBLE_DEVICES"),
        (34, 15, "k8s.resource", "nvidia.com/mig-1g.10gb"),
        (37, 28, "k8s.hostpath", "/usr/local/nvidia/lib64"),
        (46, 20, "env", "NVIDIA_VISIBLE_DEVICES"),
        (46, 20, "k8s.freeloading", "watcher"),
        (54, 5, "command.nvidia-smi", "nvidia-smi"),
        (58, 7, "k8s.sharing", "timeSlicing"),
        (60, 19, "k8s.resource", "nvidia.com/gpu"),
    ]
    assert facts("manifests", "k8s/llm.yaml", MANIFEST) == [
        ("deploy.workload", "Deployment/llm"),
        ("deploy.workload", "Pod/rider"),
    ]
    workload = next(use for use in uses("manifests", "k8s/llm.yaml", MANIFEST) if use.subject == "deploy.workload")
    assert ("image", "vllm/vllm-openai:v0.8.5") in workload.details and ("namespace", "prod") in workload.details


def test_a_pod_that_asks_for_its_gpu_is_no_freeloader_and_others_are_left_alone() -> None:
    asks = MANIFEST.replace(
        "image: example.org/watcher", "image: example.org/watcher\n      resources: {limits: {nvidia.com/gpu: 1}}"
    )
    assert not [use for use in uses("manifests", "a.yaml", asks) if use.subject == "k8s.freeloading"]
    plain = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {app: nvidia}}\nspec: {containers: [{name: a, image: nginx, env: [{name: GPU, value: x}]}]}\n"
    assert findings("manifests", "b.yaml", plain) == []


CUSTOM = {
    "KServe": "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: m}\nspec:\n  predictor:\n    model:\n      resources: {limits: {nvidia.com/gpu: 1}}\n",
    "Ray": "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: m}\nspec:\n  workerGroupSpecs:\n    - template: {spec: {containers: [\n      {name: w, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}\n",
    "Volcano": "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: m}\nspec:\n  tasks:\n    - template:\n        spec: {containers: [{name: w, resources: {limits: {nvidia.com/gpu: 1}}}]}\n",
    "Argo": "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: m}\nspec:\n  templates:\n    - container:\n        resources: {limits: {nvidia.com/gpu: 1}}\n",
}


@pytest.mark.parametrize("kind", CUSTOM)
def test_resources_are_found_in_kinds_of_others(kind: str) -> None:
    found = findings("manifests", "x.yaml", CUSTOM[kind])
    assert [(line, subject, name) for line, _, subject, name in found] == [(7, "k8s.resource", "nvidia.com/gpu")]


def test_device_classes_and_operators() -> None:
    text = """apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: c}
spec:
  spec:
    devices:
      requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com}}]
---
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: p}
"""
    assert findings("manifests", "x.yaml", text) == [
        (7, 55, "k8s.dra", "gpu.nvidia.com"),
        (10, 7, "k8s.kind", "nvidia.com/v1 ClusterPolicy"),
    ]


def test_a_chart_with_values_and_templates() -> None:
    chart = "apiVersion: v2\nname: llm\nversion: 1\ndependencies:\n  - name: gpu-operator\n    version: v24.9.1\n    repository: https://helm.ngc.nvidia.com/nvidia\n"
    assert findings("manifests", "chart/Chart.yaml", chart) == [
        (5, 11, "helm.chart", "gpu-operator"),
        (7, 17, "helm.repository", "https://helm.ngc.nvidia.com/nvidia"),
    ]
    values = "image:\n  registry: docker.io\n  repository: nvidia/cuda\n  tag: 12.1.0-base-ubuntu22.04\nresources:\n  limits:\n    nvidia.com/gpu: 1\ngpu:\n  type: nvidia\n# nvidia.com/gpu: 3\n"
    assert findings("manifests", "chart/values.yaml", values) == [
        (3, 15, "image", "docker.io/nvidia/cuda:12.1.0-base-ubuntu22.04"),
        (7, 5, "k8s.resource", "nvidia.com/gpu"),
        (9, 9, "helm.value", "gpu.type"),
    ]
    template = """{{- /*
nvidia.com/gpu: in a comment
*/ -}}
apiVersion: v1
kind: Pod
metadata:
  name: {{ include "x.name" . }}
spec:
  containers:
    - name: main
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
      resources:
        limits:
          {{- if .Values.gpu }}
          nvidia.com/gpu: {{ .Values.gpu.count }}
          {{- end }}
          {{ default "nvidia.com/gpu" .Values.other }}: 1
"""
    assert findings("manifests", "chart/templates/pod.yaml", template) == [
        (15, 11, "k8s.resource", "nvidia.com/gpu"),
        (17, 23, "k8s.resource", "nvidia.com/gpu"),
    ]
    assert facts("manifests", "chart/templates/pod.yaml", template) == [("deploy.workload", "Pod/pod")]


def test_kustomize_names_its_files_and_images() -> None:
    text = "resources:\n  - base\n  - gpu.yaml\nimages:\n  - name: app\n    newName: nvcr.io/nvidia/tritonserver\n    newTag: 24.01-py3\n"
    assert findings("manifests", "k/kustomization.yaml", text) == [
        (6, 14, "image", "nvcr.io/nvidia/tritonserver:24.01-py3")
    ]
    assert facts("manifests", "k/kustomization.yaml", text) == [
        ("deploy.include", "base"),
        ("deploy.include", "gpu.yaml"),
    ]


def test_rules_and_autoscalers_ask_for_metrics() -> None:
    text = """groups:
  - name: gpu
    rules:
      - alert: Hot
        expr: |
          max by (Hostname, gpu) (
            DCGM_FI_DEV_GPU_TEMP{modelName=~"A100.*"}) > 85
      - record: busy
        expr: avg(rate(node_cpu_seconds_total[5m]))
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: s}
spec:
  triggers:
    - type: prometheus
      metadata: {query: 'avg(DCGM_FI_DEV_GPU_UTIL{gpu="0"})'}
"""
    assert sorted(findings("manifests", "rules.yaml", text)) == [
        (6, 19, "metric.label", "Hostname"),
        (6, 29, "metric.label", "gpu"),
        (7, 13, "metric", "DCGM_FI_DEV_GPU_TEMP"),
        (7, 34, "metric.label", "modelName"),
        (17, 30, "metric", "DCGM_FI_DEV_GPU_UTIL"),
        (17, 51, "metric.label", "gpu"),
    ]
    hot = next(use for use in uses("manifests", "rules.yaml", text) if use.name == "DCGM_FI_DEV_GPU_TEMP")
    assert hot.detail("threshold") == "> 85"


def test_a_dashboard_names_the_panel_of_each_query() -> None:
    panels = [
        {
            "targets": [{"expr": 'sum(DCGM_FI_DEV_POWER_USAGE{instance="$i"})', "legendFormat": "GPU {{gpu}}"}],
            "title": "Power",
        },
        {"targets": [{"expr": "up"}], "title": "Up"},
    ]
    text = json.dumps({"panels": panels, "title": "GPUs"}, indent=1)
    found = uses("grafana", "d.json", text)
    assert [(use.line, use.subject, use.name, use.detail("panel")) for use in found] == [
        (6, "metric", "DCGM_FI_DEV_POWER_USAGE", "Power"),
        (7, "metric.label", "gpu", ""),
    ]
    listed = "# counters\nDCGM_FI_DEV_SM_CLOCK, gauge, clock\nDCGM_FI_DEV_GPU_TEMP, gauge, t\n"
    assert findings("grafana", "default-counters.csv", listed) == [
        (2, 1, "metric", "DCGM_FI_DEV_SM_CLOCK"),
        (3, 1, "metric", "DCGM_FI_DEV_GPU_TEMP"),
    ]


def test_workflows_of_github_and_gitlab() -> None:
    github = """on: push
jobs:
  t:
    runs-on: [self-hosted, gpu]
    strategy:
      matrix:
        cuda: ["12.1", "11.8"]
    container:
      image: nvidia/cuda:${{ matrix.cuda }}-devel-ubuntu22.04
      options: --gpus all
    steps:
      - uses: Jimver/cuda-toolkit@v0.2
      - name: install the nvidia thing
        run: |
          pip install cupy-cuda12x
          docker build -t me/llm -f docker/Dockerfile .
"""
    assert findings("manifests", ".github/workflows/t.yml", github) == [
        (4, 28, "ci.runner", "gpu"),
        (7, 9, "ci.matrix", "cuda"),
        (9, 14, "image", "nvidia/cuda:${{ matrix.cuda }}-devel-ubuntu22.04"),
        (10, 16, "container.gpus", "--gpus"),
        (12, 15, "ci.action", "Jimver/cuda-toolkit@v0.2"),
        (15, 23, "package", "cupy-cuda12x"),
    ]
    assert facts("manifests", ".github/workflows/t.yml", github) == [("docker.build", "me/llm")]
    gitlab = "test:\n  image: pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\n  tags: [a100]\n  variables: {CUDA_VISIBLE_DEVICES: '0'}\n  script:\n    - nvidia-smi\n    - pytest\n"
    assert sorted(findings("manifests", ".gitlab-ci.yml", gitlab)) == [
        (2, 10, "image", "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime"),
        (3, 10, "ci.runner", "a100"),
        (4, 15, "env", "CUDA_VISIBLE_DEVICES"),
        (6, 7, "command.nvidia-smi", "nvidia-smi"),
    ]


def test_images_and_downloads_are_found_under_any_name() -> None:
    text = "train_container: nvcr.io/nvidia/pytorch:24.01-py3\nhome: https://www.nvidia.com/\nkeyring: https://developer.download.nvidia.com/compute/cuda/repos/x.deb\nplain: a/b:1\n"
    assert findings("manifests", "group_vars/all.yml", text) == [
        (1, 18, "image", "nvcr.io/nvidia/pytorch:24.01-py3"),
        (3, 10, "package.source", "https://developer.download.nvidia.com/compute/cuda/repos/x.deb"),
    ]
    assert findings("shell", "x.sh", 'IMAGE="nvidia/cuda:12.1.0-base-ubuntu22.04"\n') == [
        (1, 1, "image", "nvidia/cuda:12.1.0-base-ubuntu22.04")
    ]


def test_jenkins_pipelines() -> None:
    text = """pipeline {
  agent { docker { image 'nvidia/cuda:12.1.0-devel-ubuntu22.04'; args '--gpus all'; label 'a100' } }
  // sh 'nvidia-smi'
  stages { stage('t') { steps {
    sh '''
      pip install cupy-cuda12x
    '''
    sh "nvidia-smi -L"
  } } }
}
"""
    assert findings("jenkins", "ci/Jenkinsfile", text) == [
        (2, 27, "image", "nvidia/cuda:12.1.0-devel-ubuntu22.04"),
        (2, 72, "container.gpus", "--gpus"),
        (2, 92, "ci.runner", "a100"),
        (6, 19, "package", "cupy-cuda12x"),
        (8, 9, "command.nvidia-smi", "nvidia-smi"),
    ]


def test_batch_scripts_and_the_cluster_s_own_files() -> None:
    text = "#!/bin/bash\n#SBATCH --job-name=train\n#SBATCH --gres=gpu:a100:4 --nodes=2\n#SBATCH -C h100\nmodule load cuda/12.1 gcc\nsrun --gpus-per-task=1 python train.py\n"
    assert sorted(findings("slurm", "train.slurm", text)) == [
        (3, 9, "slurm.gres", "gres"),
        (4, 9, "slurm.constraint", "constraint"),
        (5, 13, "slurm.module", "cuda/12.1"),
        (6, 6, "slurm.gpus-per-task", "gpus-per-task"),
    ]
    workload = next(use for use in uses("slurm", "train.slurm", text) if use.subject == "deploy.workload")
    assert (workload.name, ("command", "train.py") in workload.details) == ("train", True)
    configured = "# AutoDetect=nvml\nAutoDetect=nvml\nNodeName=n1 Name=gpu Type=a100 File=/dev/nvidia[0-3]\n"
    assert findings("slurm", "gres.conf", configured) == [
        (2, 12, "slurm.autodetect", "nvml"),
        (3, 27, "slurm.gres_type", "a100"),
        (3, 37, "slurm.device", "/dev/nvidia[0-3]"),
    ]


def test_cmake_make_bazel_and_meson() -> None:
    cmake = """project(x LANGUAGES CXX CUDA)
# find_package(CUDA)
find_package(CUDAToolkit 12 REQUIRED)
set(CMAKE_CUDA_ARCHITECTURES 80 90)
target_link_libraries(x PRIVATE CUDA::cublas cudart stdc++)
set_target_properties(x PROPERTIES
  CUDA_SEPARABLE_COMPILATION ON)
message(STATUS "CUDA is nice")
"""
    assert findings("build_files", "CMakeLists.txt", cmake) == [
        (1, 25, "build.language", "CUDA"),
        (3, 14, "build.package", "CUDAToolkit"),
        (4, 5, "build.setting", "CMAKE_CUDA_ARCHITECTURES"),
        (5, 33, "build.library", "CUDA::cublas"),
        (5, 46, "build.library", "cudart"),
        (7, 3, "build.setting", "CUDA_SEPARABLE_COMPILATION"),
    ]
    make = "NVCC ?= nvcc\n# NVCC = other\nNVCCFLAGS := -gencode arch=compute_80,code=sm_80\nLDLIBS = -lcublas -lm\nCUDA_HOME = /usr/local/cuda-12.1\nx.o: x.cu\n\t$(NVCC) $(NVCCFLAGS) -c x.cu\n\t@nvidia-smi\n"
    assert sorted(findings("build_files", "Makefile", make)) == [
        (1, 9, "build.compiler", "nvcc"),
        (3, 1, "build.setting", "NVCCFLAGS"),
        (4, 10, "build.library", "cublas"),
        (5, 1, "build.setting", "CUDA_HOME"),
        (5, 13, "path.cuda", "/usr/local/cuda-12.1"),
        (7, 2, "build.compiler", "NVCC"),
        (8, 3, "command.nvidia-smi", "nvidia-smi"),
    ]
    bazel = 'load("@rules_cuda//cuda:defs.bzl", "cuda_library")\n# cuda_library\ncuda_library(name = "k", deps = ["@local_config_cuda//cuda:cudart"])\n'
    assert findings("build_files", "BUILD.bazel", bazel) == [
        (1, 7, "build.bazel", "@rules_cuda//cuda:defs.bzl"),
        (1, 37, "build.bazel", "cuda_library"),
        (3, 1, "build.bazel", "cuda_library"),
        (3, 35, "build.bazel", "@local_config_cuda//cuda:cudart"),
    ]
    meson = "project('x', 'cpp', 'cuda')\ndep = dependency('cudnn')\n"
    assert [(line, subject) for line, _, subject, _ in findings("build_files", "meson.build", meson)] == [
        (1, "build.meson"),
        (2, "build.meson"),
    ]


HOSTILE = [
    b"\xff\xfe" + "image: nvidia/cuda\n".encode("utf-16-le"),
    b"image: nvidia/cuda\xff\xfe\xc3(\n",
    b'nvidia.com/gpu: 1\r\nx: "' + b"a" * 300_000,
    b"\0" * 5000 + b"nvidia.com/gpu",
    b"a: &a [nvidia.com/gpu, *a]\n" * 2000,
    b"nvidia.com/gpu " * 20_000,
    b"RUN pip install torch \\\n" * 3_000,
    b"'\"$(`{" * 10_000 + b"nvidia-smi",
    b"CUDA(" * 50_000,
    b"project(x CUDA" * 5_000,
    b"DCGM_FI_DEV_GPU_UTIL{" * 8_000,
    b"[[[{{{torch" * 8_000,
    b"nvidia-cublas-cu12[" * 20_000,
    b"ENV CUDA_HOME=${" * 8_000,
    b"image:\n" + b"  repository: nvidia/cuda\n" * 4_000 + b"  tag: x\n",
    b"FROM " + b"$" * 30_000 + b"\nARG " + b"A=${A:-" * 8_000,
]
NAMES = {
    "manifests": "x.yaml", "dockerfile": "Dockerfile", "shell": "x.sh", "requirements": "requirements.txt", "projects": "pyproject.toml",
    "build_files": "CMakeLists.txt", "jenkins": "Jenkinsfile", "slurm": "x.sbatch", "grafana": "x.json", "system_packages": "var/lib/dpkg/status",
}  # fmt: skip


@pytest.mark.parametrize("scanner", NAMES)
def test_hostile_bytes_are_read_to_the_end(scanner: str) -> None:
    for data in HOSTILE:
        for use in uses(scanner, NAMES[scanner], data):
            assert len(use.name) <= 200 and len(use.text) <= 200


def test_texts_in_other_encodings_are_read() -> None:
    assert findings("manifests", "x.yaml", HOSTILE[0]) == [(1, 8, "image", "nvidia/cuda")]
    assert [name for *_, name in findings("shell", "x.sh", b"echo \xff\xfe\nnvidia-smi\r\n")] == ["nvidia-smi"]


def test_a_chart_may_call_the_key_of_an_image_its_name() -> None:
    values = "profiles:\n  nvidia-gpu-t4:\n    imageName: nvidia-gpu\n    limits:\n      nvidia.com/gpu: 1\nother:\n  imageName: nvidia/cuda:12.4.1-base-ubuntu22.04\n"
    assert findings("manifests", "chart/values.yaml", values) == [
        (5, 7, "k8s.resource", "nvidia.com/gpu"),
        (7, 14, "image", "nvidia/cuda:12.4.1-base-ubuntu22.04"),
    ]
