"""`anywarp env plan`: which package for ROCm answers each one for CUDA; versions are those of docs: pytorch.org/get-started/previous-versions."""

import json
import re
import sys
from pathlib import Path

import pytest

from anywarp.cli.main import call
from anywarp.deploy.env.installed import look
from anywarp.deploy.env.plan import of_environment, of_requirements
from fakes import wheels

CASES = sorted((Path(__file__).parents[2] / "cases" / "convert" / "requirements").glob("*.txt"))
MARKERS = {"python_version": "3.11", "sys_platform": "linux", "platform_machine": "x86_64", "platform_system": "Linux"}


def planned(*texts, rocm=""):
    plan = of_requirements(texts, MARKERS, rocm)
    return plan.rocm, {item.name: (item.what, item.asks) for item in plan.items}


@pytest.mark.parametrize(
    ("torch", "vision", "audio", "rocm"),
    [
        ("2.4.1", "0.19.1", "2.4.1", "6.1"),
        ("2.6.0", "0.21.0", "2.6.0", "6.2.4"),
        ("2.9.1", "0.24.1", "2.9.1", "6.4"),
        ("2.11.0", "0.26.0", "2.11.0", "7.2"),
    ],
)
def test_the_family_moves_to_the_newest_release_that_has_all_of_the_same_version(torch, vision, audio, rocm):
    release, items = planned(f"torch=={torch}+cu121", f"torchvision=={vision}", f"torchaudio=={audio}")
    assert release == rocm
    assert items == {
        "torch": ("replace", f"torch=={torch}+rocm{rocm}"),
        "torchvision": ("replace", f"torchvision=={vision}+rocm{rocm}"),
        "torchaudio": ("replace", f"torchaudio=={audio}+rocm{rocm}"),
    }


def test_fellows_that_do_not_belong_together_stay():
    _, items = planned("torch==2.8.0", "torchvision==0.24.0")  # ROCm 6.4's index has both
    assert {what for what, _ in items.values()} == {"none"}


def test_an_open_torch_is_the_one_that_its_fellow_was_released_with():
    _, items = planned("torch", "torchvision==0.20.0")
    assert items["torch"] == ("replace", "torch==2.5.0+rocm6.2")


def test_a_release_that_is_asked_for_is_the_only_one():
    assert planned("torch==2.10.0", rocm="7.0") == ("7.0", {"torch": ("replace", "torch==2.10.0+rocm7.0")})
    assert planned("torch==2.10.0", rocm="6.4")[1] == {"torch": ("none", "")}


def test_what_is_too_old_or_unknown_is_said_with_what_to_do():
    old, unknown = (of_requirements([f"torch=={version}"], MARKERS).items[0] for version in ("1.13.1", "2.13.0"))
    assert old.reason == "torch 1.13.1 is too old: the oldest known on any index for ROCm is 2.3.0"
    assert unknown.reason == "torch==2.13.0 is not known to be on any index for ROCm"
    assert "2.12.0 (ROCm 7.2)" in unknown.help


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("cupy-cuda12x==14.2.0", ("replace", "cupy-rocm-7-0==14.2.0")),
        ("cupy-cuda12x==13.3.0", ("none", "")),
        ("onnxruntime-gpu==1.27.1", ("replace", "onnxruntime-migraphx==1.27.1")),
        ("jax-cuda12-plugin==0.10.2", ("replace", "jax-rocm7-plugin==0.10.2")),
        ("bitsandbytes==0.46.0", ("keep", "")),
        ("flash-attn==2.8.3", ("none", "")),
        ("xformers==0.0.32", ("none", "")),
        ("vllm==0.11.0", ("none", "")),
        ("triton==3.5.0", ("keep", "")),
        ("nvidia-cudnn-cu12==9.10.2.21", ("unused", "")),
        ("nvidia-ml-py==13.580.65", ("keep", "")),
    ],
)
def test_each_package_has_its_answer(text, answer):
    _, items = planned(text)
    assert list(items.values()) == [answer]


def test_all_without_a_counterpart_say_why_and_what_to_do():
    for name in ("flash-attn", "xformers", "vllm", "tensorrt", "cupy-cuda12x==13.3.0"):
        (item,) = of_requirements([name], MARKERS).items
        assert (item.what, bool(item.reason), bool(item.help)) == ("none", True, True)


def test_markers_and_files_that_name_their_build_are_heeded():
    assert planned("torch==2.10.0; sys_platform == 'darwin'", "torch==2.8.0+rocm6.4") == (
        "7.1",
        {"torch": ("keep", "")},
    )


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("https://host/v1/exllama-0.0.10+cu117-cp310-cp310-linux_x86_64.whl", [("exllama", "0.0.10+cu117")]),
        ("https://host/torch-2.3.0%2Bcu121-cp311-cp311-linux_x86_64.whl#sha256=ab", [("torch", "2.3.0+cu121")]),
        ('https://host/a_b-1+cuda12-py3-none-any.whl; platform_system == "Linux"', [("a-b", "1+cuda12")]),
        ('https://host/a_b-1+cuda12-py3-none-any.whl ; platform_system == "Windows"', []),
        ("https://host/exllama-0.0.10+rocm6.2-py3-none-any.whl", []),
        ("https://host/plain-1.0-py3-none-any.whl", []),
        ("https://host/strange.whl", []),
    ],
)
def test_a_wheel_for_cuda_that_a_line_names_by_its_address(line, found):
    items = of_requirements([line], MARKERS).items
    assert [(item.name, item.version) for item in items] == found
    assert all(item.what == "none" and item.help for item in items)


def test_a_build_for_rocm_and_one_for_the_processor(tmp_path):
    place = wheels.Environment(tmp_path / "e")
    place.install("torch", "2.10.0", wheels.torch("2.10.0", hip="7.1.25424"))
    (item,) = of_environment(look([place.packages])).items
    assert (item.what, item.reason) == ("keep", "is a build for ROCm already")
    other = wheels.Environment(tmp_path / "f")
    other.install("torch", "2.10.0+cpu", wheels.torch("2.10.0+cpu"))
    (item,) = of_environment(look([other.packages])).items
    assert (item.what, item.asks) == ("replace", "torch==2.10.0+rocm7.1")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_files_of_requirements_are_planned_for_and_stay_as_they_are(tmp_path, capsys, case):
    before = re.split(r"(?m)^=== \w+\n", case.read_bytes().decode())[1]
    file = tmp_path / "requirements.txt"
    file.write_bytes(before.encode())
    stamp = file.stat().st_mtime_ns
    status = call(["env", "plan", "--python", sys.executable, "-r", str(file), "--format", "json"])
    said = capsys.readouterr()
    assert status in (0, 1), said.err
    for item in json.loads(said.out)["packages"]:
        assert item["reason"] and (item["what"] != "none" or item["help"])
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (before.encode(), stamp)


def test_included_files_are_read_once_and_those_elsewhere_named(env, tmp_path):
    (tmp_path / "a.txt").write_text("-r b.txt\n-r https://nowhere.invalid/c.txt\ntorch==2.10.0\n")
    (tmp_path / "b.txt").write_text("-r a.txt\n-r missing.txt\nflash-attn\n")
    done = env("plan", "-r", tmp_path / "a.txt", "--format", "json")
    assert [item["name"] for item in json.loads(done.stdout)["packages"]] == ["torch", "flash-attn"]
    assert (
        "https://nowhere.invalid/c.txt is not followed" in done.stderr and "missing.txt is not followed" in done.stderr
    )


def test_the_text_names_index_reason_and_help(env):
    done = env("plan")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "ROCm 7.1"
    assert lines[1].startswith(
        "replaced  torch 2.10.0+cu128  torch==2.10.0+rocm7.1 from https://download.pytorch.org/whl/rocm7.1: "
    )
    assert "unused    nvidia-cublas-cu12, triton" in done.stdout


@pytest.mark.parametrize("text", ["seven", "7", "7.1;rm", "-1.0"])
def test_what_is_no_release_is_refused(env, text):
    done = env("plan", f"--rocm={text}")
    assert done.returncode == 2 and "is no release such as 7.1" in done.stderr


def test_of_an_unknown_release_it_is_said_that_its_index_is_not_known(env):
    done = env("plan", "--rocm", "99.0")
    assert done.returncode == 1 and "torch==2.10.0 is not known to be on the index for ROCm 99.0" in done.stdout
