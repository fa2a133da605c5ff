"""Packaging, containers, scripts, CI and monitoring: what holds for any text of these kinds, hostile ones included."""

from __future__ import annotations

import json
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anywarp.catalogue.migration import rows
from anywarp.catalogue.replacements import package
from anywarp.deploy.convert import packages, registry, smi
from anywarp.deploy.convert.engine import Converted, convert
from anywarp.deploy.convert.model import Change, Options
from anywarp.deploy.convert.quoted import inside, value
from anywarp.migrate.formats.json_text import NotJson, read
from anywarp.migrate.rulings import environment, images
from anywarp.migrate.target import Target

NAMES = {
    "requirements": "requirements.txt",
    "project": "pyproject.toml",
    "dockerfile": "Dockerfile",
    "compose": "compose.yaml",
    "ci": ".github/workflows/a.yml",
    "conda": "environment.yml",
    "shell": "run.sh",
    "gres.conf": "gres.conf",
    "prometheus": "rules.yml",
    "grafana": "board.json",
}
WORDS = (
    "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n|ENV CUDA_HOME=/usr/local/cuda \\\n|NVIDIA_VISIBLE_DEVICES=all |RUN pip install |torch==2.10.0 |torch>=2\n"
    "|nvidia-cublas-cu12 |--index-url https://download.pytorch.org/whl/cu128\n|cupy-cuda12x\n| && |\n|  |\\\n|# a comment\n|'|\"|[|]|{|}|: |, |- |services:\n"
    '|  a:\n|    image: ollama/ollama\n|    gpus: all\n|    runtime: nvidia\n|groups:\n|- rules:\n|  - expr: DCGM_FI_DEV_GPU_UTIL > 5\n|"expr": "DCGM_FI_DEV_FB_USED"|'
    '"panels": |dependencies = [\n|"torch>=2",\n|]\n|[project]\n|export CUDA_VISIBLE_DEVICES=0\n|nvidia-smi -L\n|nvidia-smi -pm 1\n|docker run --gpus all x\n'
    "|module load cuda\n|$CUDA_HOME |${CUDA_HOME:-x}|<<EOF\n|EOF\n|#SBATCH --gres=gpu:a100:1\n|jobs:\n|  runs-on: gpu\n|\u00e9\u20ac|\t|\r\n|&a |*a |LABEL com.nvidia.x=1\n"
    '|CMD ["nvidia-smi"]\n|ARG X=nvidia/cuda:12.4.1-base-ubuntu22.04\n|channels:\n  - nvidia\n|dependencies:\n  - pip:\n    - torch\n|AutoDetect=nvml\n'
).split("|")
OPTIONS = Options()


def run(name: str, data: bytes, options: Options = OPTIONS) -> Converted:
    return convert(data, PurePath(name), options)


@pytest.mark.parametrize("kind", NAMES)
@given(parts=st.lists(st.sampled_from(WORDS), max_size=14))
def test_any_text_is_converted_once_and_keeps_what_no_change_touched(kind: str, parts: list[str]) -> None:
    data = "".join(parts).encode()
    result = run(NAMES[kind], data)
    done, place = 0, 0
    for change in result.changes:
        assert done <= change.start <= change.end <= len(data)
        kept = data[done : change.start]
        assert result.new[place : place + len(kept)] == kept
        place += len(kept) + len(change.replacement)
        done = change.end
    assert result.new[place:] == data[done:]
    assert all(0 <= finding.start <= finding.end <= len(data) for finding in result.findings)
    again = run(NAMES[kind], result.new)
    assert again.new == result.new, "converting twice"


@pytest.mark.parametrize(
    "name", ["requirements.txt", "Dockerfile", "run.sh", "gres.conf", "pyproject.toml", "board.json", "setup.cfg"]
)
def test_bytes_that_are_no_utf8_stay(name: str) -> None:
    data = b'{"panels": [], "expr": "\xff\xfe"} \xff\xfe CUDA_HOME=/usr/local/cuda torch nvidia \xc3\x28\n' * 3
    result = run(name, data)
    for change in result.changes:
        assert b"\xff" not in data[change.start : change.end]


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(
    "data",
    [
        b"nvidia " * 8_000,
        b"[" * 20_000 + b"nvidia",
        b'{"expr": ' * 4_000 + b'"DCGM_FI_DEV_GPU_UTIL"',
        b"RUN pip install nvidia-x \\\n" * 3_000,
        b"a: &a [nvidia]\n" + b"b: [*a, *a, *a, *a]\n" * 2000,
        b"nvidia\0" * 1000,
        b"'" * 20_000 + b"nvidia",
        b"$(" * 5_000 + b"nvidia-smi",
        b"torch = {a = " * 4_000 + b"nvidia",
        b"<<A <<B <<C nvidia\n" * 3000,
    ],
    ids=[
        "words",
        "brackets",
        "objects",
        "continued",
        "anchors",
        "zeros",
        "quotes",
        "substitutions",
        "tables",
        "heredocs",
    ],
)
def test_hostile_texts_end_soon(kind: str, data: bytes) -> None:
    run(NAMES[kind], data)


def test_every_row_of_a_package_is_answered() -> None:
    for row in rows("packages"):
        if row["channel"] == "pypi" and row["conversion"] != "index":
            name = row["name"].replace("*", "x")
            assert package(name) is not None
            found = packages.plan([packages.Wanted(name, 0, len(name))], OPTIONS, exclusive=False).findings
            assert found or name in ("jax", "tensorflow"), name


def test_every_variable_is_answered_with_and_without_its_value() -> None:
    for row in rows("environment"):
        name = row["name"].replace("*", "X")
        for text in (None, "", "0", "/usr/local/cuda/lib64", "cuda_copy"):
            answer = environment.variable(name, text, OPTIONS.target)
            assert answer is not None or name == "UCX_TLS", name
            if answer is not None and answer.action == "refuse":
                assert answer.reason and answer.help


def test_images_of_a_counterpart_are_no_images_of_cuda() -> None:
    for row in rows("images"):
        if row["conversion"] == "rename" and "{" not in row["target"]:
            assert images.image(row["target"], OPTIONS.target) is None


@pytest.mark.parametrize("release", ["6.4", "7.1", "7.2", "10.0"])
def test_torch_is_refused_where_its_index_is_not_known(release: str) -> None:
    known = {row["version"] for row in rows("torch_wheels") if row["package"] == "torch" and row["release"] == release}
    options = Options(target=Target("hip", "gfx942", release))
    made = packages.plan([packages.Wanted("torch", 0, 5)], options, exclusive=False)
    assert made.blocked == (not known)


def test_torchs_family_fits_together() -> None:
    texts_ = ["torch==2.10.0", "torchvision", "torchaudio"]
    wanted = [packages.Wanted(text, 100 * at, 100 * at + len(text)) for at, text in enumerate(texts_)]
    made = packages.plan(wanted, OPTIONS, exclusive=False)
    written = [one.replacement for one in made.findings if isinstance(one, Change)]
    assert written == [b"torch==2.10.0+rocm7.1", b"torchvision==0.25.0+rocm7.1", b"torchaudio==2.10.0+rocm7.1"]


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("", "amd-smi monitor"),
        ("-L", "amd-smi list"),
        ("-q", "amd-smi static && amd-smi metric"),
        (
            "--query-gpu=name,power.draw,power.limit -l 5",
            "amd-smi static --asic --limit -w 5 && amd-smi metric --power -w 5",
        ),
        ("--query-compute-apps=pid", "amd-smi process"),
        ("-i 1 -r", ""),
        ("nvlink -s", "amd-smi xgmi"),
        ("-pm 1", ""),
        ("--query-gpu=nothing.known", ""),
        ("-lgc 1400", ""),
    ],
)
def test_smi(words: str, command: str) -> None:
    target = smi.smi(tuple(words.split()))[0]
    assert target == (command or target if words == "-i 1 -r" else command)


@given(st.text())
def test_texts_in_quotes_keep_their_places(text: str) -> None:
    raw = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
    shown = json.loads(raw)
    assert value(raw, 1, len(raw) - 1, "double") == shown

    def upper(data: bytes) -> list[Change]:
        return [Change(at, at + 1, b'"', "") for at in range(len(data)) if data[at : at + 1] == b"a"]

    out, done = b"", 0
    for change in inside(raw, 1, len(raw) - 1, "double", upper):
        assert isinstance(change, Change)
        out += raw[done : change.start] + change.replacement
        done = change.end
    assert json.loads(out + raw[done:]) == shown.replace("a", '"')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, 2]))
def test_json_is_read_as_python_reads_it(thing: object, indent: int | None) -> None:
    data = json.dumps(thing, indent=indent).encode()
    strings = sorted(json.loads(b'"' + one.text + b'"') for one in read(data).walk() if one.kind == "string")
    assert strings == sorted(_strings(thing))


def _strings(thing: object) -> list[str]:
    if isinstance(thing, str):
        return [thing]
    if isinstance(thing, dict):
        return [text for inner in thing.values() for text in _strings(inner)]
    return [text for inner in thing for text in _strings(inner)] if isinstance(thing, list) else []


@pytest.mark.parametrize("data", [b"", b"{", b'{"a": 1}}', b"{1: 2}", b"[" * 300, b'"a" "b"', b"[}"])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(NotJson):
        read(data)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "Dockerfile",
            "FROM ubuntu:24.04\nENV CUDA_HOME=/usr/local/cuda\nRUN pip install torch \\\n  nvidia-x \\\n  numpy\nRUN pip install nvidia-y\n",
        ),
        ("compose.yaml", "services:\n  a:\n    image: ollama/ollama\n    gpus: all\n    x: y\n"),
        ("requirements.txt", "numpy\ntorch\nnvidia-cublas-cu12\n"),
        ("environment.yml", "dependencies:\n  - pip:\n    - torch\n    - nvidia-cublas-cu12\n"),
        ("run.sh", "export CUDA_VISIBLE_DEVICES=0\nnvidia-smi\nexport NVIDIA_VISIBLE_DEVICES=all\n"),
        (".env", "CUDA_VISIBLE_DEVICES=0\nNVIDIA_VISIBLE_DEVICES=all\n"),
        (
            "rules.yml",
            "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: DCGM_FI_DEV_GPU_UTIL > 5\n      and DCGM_FI_DEV_FB_USED > 3\n",
        ),
        ("pyproject.toml", '[project]\ndependencies = [\n  "cupy-cuda12x",\n  "nvidia-x",\n]\n'),
    ],
)
def test_line_ends_of_another_system_stay(name: str, text: str) -> None:
    unix = run(name, text.encode()).new
    assert unix != text.encode()
    assert run(name, text.replace("\n", "\r\n").encode()).new == unix.replace(b"\n", b"\r\n")


def test_every_kind_of_these_is_registered() -> None:
    assert set(NAMES) | {"lock"} <= set(registry.names())


POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: a\n    image: python:3.11\n    command: [sh, -c]\n    args:\n"


@pytest.mark.parametrize(
    "script",
    ["    - pip install onnxruntime-gpu && serve\n", "    - 'pip install onnxruntime-gpu; serve'\n",
     "    - |\n      pip install onnxruntime-gpu\n      serve\n", "    - >-\n      pip install onnxruntime-gpu &&\n      serve\n"],
    ids=["plain", "quoted", "block", "folded"],
)  # fmt: skip
def test_a_script_that_only_implies_cuda_is_converted_however_yaml_writes_it(script):
    """Nothing here names NVIDIA: the package that is built for CUDA does not, either."""
    assert b"pip install onnxruntime-migraphx" in run("pod.yaml", (POD + script).encode()).new


def test_a_file_in_a_config_map_that_only_implies_cuda_is_converted_as_on_disk():
    inside = "onnxruntime-gpu\nrequests\n"
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  requirements.txt: |\n    onnxruntime-gpu\n    requests\n"
    assert run("requirements.txt", inside.encode()).new.startswith(b"onnxruntime-migraphx")
    assert b"    onnxruntime-migraphx\n    requests\n" in run("map.yaml", text.encode()).new


def test_a_client_of_servers_stays_with_its_command():
    script = b"#!/bin/sh\npip install genai-perf onnxruntime-gpu\ngenai-perf profile -m a\n"
    assert run("run.sh", script).new == script.replace(b"onnxruntime-gpu", b"onnxruntime-migraphx")
