"""What is only noted about pods: nothing is added to them, and what may matter is said once."""

from __future__ import annotations

from pathlib import PurePath

from anywarp.deploy.convert.engine import convert
from anywarp.deploy.convert.model import Options

POD = """apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  containers:
    - name: c
      image: {image}
      {mounts}
      resources: {{limits: {{{limit}}}}}
"""


def notes(
    image: str = "example.org/a:1", mounts: str = "", limit: str = "nvidia.com/gpu: 1", copies: int = 1
) -> list[str]:
    text = "---\n".join([POD.format(image=image, mounts=mounts, limit=limit)] * copies)
    return [note.reason for note in convert(text.encode(), PurePath("a.yaml"), Options()).notes]


def test_what_amds_examples_add_is_said_once_for_an_object_and_not_added() -> None:
    text = POD.format(image="example.org/a:1", mounts="", limit="nvidia.com/gpu: 1")
    assert convert(text.encode(), PurePath("a.yaml"), Options()).new.decode() == text.replace("nvidia", "amd")
    assert sum("Pod Security" in note for note in notes()) == 1
    assert sum("Pod Security" in note for note in notes(copies=3)) == 3
    assert sum("Pod Security" in note for note in notes(limit="nvidia.com/gpu: 1, nvidia.com/gpumem: 5")) == 1


def test_several_gpus_without_shared_memory() -> None:
    assert any("/dev/shm" in note for note in notes(limit="nvidia.com/gpu: 2"))
    assert not any("/dev/shm" in note for note in notes(limit="nvidia.com/gpu: 1"))
    mounted = "volumeMounts: [{name: shm, mountPath: /dev/shm}]"
    assert not any("/dev/shm" in note for note in notes(limit="nvidia.com/gpu: 2", mounts=mounted))


def test_an_image_for_cuda_in_a_container_that_asks_for_no_gpu() -> None:
    cuda = "nvidia/cuda:12.4.1-base-ubuntu22.04"
    assert any("if this container uses a GPU" in note for note in notes(image=cuda, limit="cpu: 1"))
    assert not any("if this container uses a GPU" in note for note in notes(image=cuda))


def test_a_partition_says_how_nodes_must_be_set_up_and_what_is_wasted() -> None:
    small = notes(limit="nvidia.com/mig-1g.5gb: 1")
    assert any("resource_naming_strategy=mixed" in note and "much more memory" in note for note in small)
    near = notes(limit="nvidia.com/mig-1g.20gb: 1")
    assert any("resource_naming_strategy=mixed" in note and "much more memory" not in note for note in near)
