"""The engine: nothing that mentions NVIDIA is passed over, nothing that no rule touches changes, and twice is once."""

from __future__ import annotations

import re
from pathlib import PurePath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.deploy.convert import engine, registry, sweep
from anywarp.deploy.convert.engine import convert
from anywarp.deploy.convert.model import Change, Fine, Note, Options, Refusal

WORDS = [
    "nvidia.com/gpu", "NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "nvidia", "runtimeClassName", "nodeSelector", "limits",
    "resources", "nvidia.com/mig-1g.10gb", "nvidia.com/gpu.product", "image", "nvidia/cuda:12.4.1-base-ubuntu22.04", "env", "name",
    "value", "key", "a", "b", "1", '"2"', "'c'", "{{ .Values.cuda }}", "H100", "kind", "apiVersion", "v1", "tolerations", "ü€",
]  # fmt: skip
LINES = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.sampled_from(["", "- ", "# "]),
        st.sampled_from(WORDS),
        st.sampled_from([":", ": ", " ", ": {", ": [", ": |", ": &x ", ": *x"]),
        st.sampled_from(["", *WORDS]),
        st.sampled_from(["", " # nvidia", "}", "]", ",", "\r"]),
    ),
    max_size=14,
)


def text_of(lines: list[tuple[int, str, str, str, str, str]]) -> bytes:
    return "\n".join("  " * depth + "".join(rest) for depth, *rest in lines).encode() + b"\n"


@settings(max_examples=150, deadline=None)
@given(LINES)
def test_any_text_keeps_what_no_change_touches_and_every_mention_is_spoken_for(
    lines: list[tuple[int, str, str, str, str, str]],
) -> None:
    data = text_of(lines)
    result = convert(data, PurePath("a.yaml"), Options())
    done = place = 0
    for change in result.changes:
        assert done <= change.start <= change.end <= len(data)
        kept = data[done : change.start]
        assert result.new[place : place + len(kept)] == kept
        assert data[change.start : change.end] != change.replacement
        place += len(kept) + len(change.replacement)
        done = change.end
    assert result.new[place:] == data[done:]
    spans = [(finding.start, finding.end) for finding in result.findings]
    assert not list(sweep.uncovered(data, spans))
    assert all(finding.reason for finding in result.findings)


@settings(max_examples=150, deadline=None)
@given(LINES)
def test_any_text_converted_twice_is_as_converted_once(lines: list[tuple[int, str, str, str, str, str]]) -> None:
    once = convert(text_of(lines), PurePath("a.yaml"), Options()).new
    assert convert(once, PurePath("a.yaml"), Options()).new == once


@pytest.mark.parametrize(
    "text",
    [
        b"x: somethingCudaLike\n",
        b"gpu: H100\n",
        b"x: nvcr.io/a/b\n",
        b"x: libnccl.so.2\n",
        b"x: libcudart.so.12\n",
        b"x: mig-3g.40gb\n",
        b"x: dcgm\n",
        b"x: a-geforce-card\n",
        b"x: pci-10de\n",
        b"x: tensorrt_llm\n",
    ],
)
def test_a_word_that_no_rule_knows_is_listed(text: bytes) -> None:
    result = convert(text, PurePath("a.yaml"), Options())
    assert [finding.code for finding in result.refusals] == ["Y010"]
    assert result.new == text


@pytest.mark.parametrize(
    "text", [b"x: barracuda\n", b"x: NCCL_DEBUG\n", b"x: immigrate\n", b"a: b\n", b"x: amd.com/gpu\n"]
)
def test_a_word_that_only_looks_like_it_is_not(text: bytes) -> None:
    assert convert(text, PurePath("a.yaml"), Options()).findings == ()


def test_rules_that_are_taken_out_leave_their_places_to_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list does not depend on rules: without any, everything is on it."""
    data = b"a: {nvidia.com/gpu: 1}\nb: H100\n# nvidia\n"
    kind = registry.kind("kubernetes")
    monkeypatch.setattr(kind, "convert", lambda *_: iter(()))
    result = convert(data, PurePath("a.yaml"), Options())
    assert [data[f.start : f.end] for f in result.refusals] == [b"nvidia.com/gpu:", b"H100"]
    assert [data[f.start : f.end] for f in result.notes] == [b"nvidia"]


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("a.cu", Note),
        ("a.py", Note),
        ("README.md", Note),
        ("LICENSE", Note),
        ("main.tf", Refusal),
        ("a.go", Note),
        ("x", Refusal),
    ],
)
def test_a_file_of_another_kind_is_spoken_for_once(name: str, sort: type) -> None:
    findings = convert(b"nvidia\nand cuda\n", PurePath(name), Options()).findings
    assert [type(finding) for finding in findings] == [sort]
    assert "2 times" in findings[0].reason


def test_changes_that_clash_become_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [Change(0, 6, b"A", "one"), Change(3, 9, b"B", "two"), Change(0, 6, b"A", "one")]
    monkeypatch.setattr(registry.kind("kubernetes"), "convert", lambda *_: iter(changes))
    result = convert(b"nvidia cuda", PurePath("a.yaml"), Options())
    assert result.new == b"A cuda"
    assert "Y018" in [finding.code for finding in result.refusals]


def test_a_change_that_changes_nothing_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.kind("kubernetes"), "convert", lambda *_: iter([Change(0, 6, b"nvidia", "same")]))
    result = convert(b"nvidia", PurePath("a.yaml"), Options())
    assert [type(finding) for finding in result.findings] == [Fine]


def test_every_kind_has_a_name_of_its_own() -> None:
    names = registry.names()
    assert len(set(names)) == len(names)
    assert registry.KINDS[-1] == "kubernetes", "it takes all YAML, so it is asked last"
    assert all(re.fullmatch(r"[a-z0-9_.-]+", name) for name in names)


def test_a_text_that_does_not_mention_nvidia_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.registry, "kind_of", lambda *_: pytest.fail("asked"))
    assert convert(b"a: b\n", PurePath("a.yaml"), Options()).findings == ()


EVERY_WORD = """
nvidia CUDA cudnn libcublas cufft curand cusparse cusolver cutlass nvcr.io nccl dcgm TensorRT trtllm nvml nvlink nvswitch nvcc nvprof nsys
gpu-feature-discovery gpu-operator gke-accelerator mig-1g mig-3g.20gb mig.strategy mig_config MIG-manager migparted tesla GeForce quadro cupy
pycuda numba.cuda mellanox mofed pci-10de pci-0300_10de GB300 gb200 b300 b200 gh200 h200 H100 h800 a100 a800 v100 p100 k80 l40 l40s a10g a6000
dgx HGX image-cu124 whl/cu118 RTX4090 GTX1080
""".split()


@pytest.mark.parametrize("word", EVERY_WORD)
def test_the_quick_look_passes_over_no_word(word: str) -> None:
    data = f"x: {word} y".encode()
    assert sweep.MENTION.search(data) is not None and sweep.mentions_nvidia(data)


@pytest.mark.parametrize(
    "word", ["torch==2.4", "vllm/vllm-openai", "gpus: 1", "--gres=gpu:8", "flash-attn", "ollama/ollama", "lmsysorg/x"]
)
def test_the_quick_look_passes_over_no_implication(word: str) -> None:
    assert sweep.implies_nvidia(word.encode())
