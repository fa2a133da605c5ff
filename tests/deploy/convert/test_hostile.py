"""Files made to harm: each is a clear problem of its own or is converted, and nothing else suffers."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

import pytest

from anywarp.cli.main import call
from anywarp.deploy.convert import sweep, tree
from anywarp.deploy.convert.engine import convert
from anywarp.deploy.convert.model import Options

GOOD = b"apiVersion: v1\nkind: LimitRange\nmetadata: {name: r}\nspec:\n  limits:\n    - max: {nvidia.com/gpu: 2}\n"


def run(root: Path) -> dict[str, tree.Result]:
    return {result.file.shown: result for result in tree.run(root, Options()).results}


def converted(result: tree.Result) -> bytes:
    assert result.converted is not None, result.problem
    return result.converted.new


def test_a_bomb_of_aliases_is_converted_without_being_expanded(tmp_path: Path) -> None:
    lines = ["a0: &a0 {nvidia.com/gpu: 1}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 60)]
    (tmp_path / "bomb.yaml").write_text("\n".join(lines) + "\n")
    new = converted(run(tmp_path)["bomb.yaml"]).decode()
    assert new == ("\n".join(lines) + "\n").replace("nvidia.com/gpu", "amd.com/gpu")


def test_a_bomb_is_not_expanded_by_the_validation(tmp_path: Path) -> None:
    lines = ["apiVersion: v1", "kind: Pod", "metadata: {name: p}", "a0: &a0 {nvidia.com/gpu: 1}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    (tmp_path / "bomb.yaml").write_text("\n".join(lines) + "\n")
    assert call(["convert", str(tmp_path)]) in (0, 1)


@pytest.mark.parametrize(
    "data",
    [
        b"a:\n\t- nvidia.com/gpu: 1\n",
        b"a: 1\na: {nvidia.com/gpu: 1}\na: {nvidia.com/gpu: 2}\n",
        b"{" * 5000 + b"nvidia.com/gpu",
        b"- " * 5000 + b"nvidia.com/gpu",
        b"nvidia.com/gpu: 'never closed\n",
        b"x: |\n nvidia.com/gpu\n  y\n",
        b"--- !!python/object/apply:os.system ['nvidia']\n",
        b"%YAML 9.9\n---\nnvidia.com/gpu: 1\n",
        b"? [nvidia.com/gpu]\n: 1\n",
        b"&a nvidia.com/gpu: *a\n",
        b"\xef\xbb\xbfnvidia.com/gpu: 1\n",
        "größe: {nvidia.com/gpu: 1} # für € 5\nü: nvidia.com/gpu\n".encode(),
        b"a: {{ nvidia.com/gpu }\n",
        b"nvidia.com/gpu:" + b" " * 100_000 + b"1\n",
    ],
    ids=range(14),
)
def test_odd_yaml_is_converted_or_listed_and_never_harmed(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "odd.yaml").write_bytes(data)
    (tmp_path / "good.yaml").write_bytes(GOOD)
    results = run(tmp_path)
    assert b"amd.com/gpu" in converted(results["good.yaml"])
    result = results["odd.yaml"]
    if result.converted is not None:
        assert result.converted.findings
        assert result.converted.new.replace(b"amd.com/gpu", b"nvidia.com/gpu") == data


def test_a_place_behind_wide_characters_is_still_right(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes('é: "€€€ ü"\n"ß": {"nvidia.com/gpu": "1"} # ärger\n'.encode())
    assert converted(run(tmp_path)["a.yaml"]).decode() == 'é: "€€€ ü"\n"ß": {"amd.com/gpu": "1"} # ärger\n'


def test_what_is_not_utf8_is_a_problem_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"a: \xff\xfe nvidia.com/gpu\n")
    (tmp_path / "good.yaml").write_bytes(GOOD)
    results = run(tmp_path)
    problem = results["bad.yaml"].problem
    assert problem is not None and problem.code == "Y001" and "UTF-8" in problem.message
    assert b"amd.com/gpu: 2" in converted(results["good.yaml"])
    assert call(["convert", str(tmp_path)]) == 2


def test_a_file_of_200_megabytes_is_a_problem_at_once(tmp_path: Path) -> None:
    with open(tmp_path / "huge.yaml", "wb") as file:
        file.write(b"nvidia.com/gpu: ")
        for _ in range(200):
            file.write(b"x" * (1 << 20))
    (tmp_path / "good.yaml").write_bytes(GOOD)
    results = run(tmp_path)
    problem = results["huge.yaml"].problem
    assert problem is not None and problem.code == "M003"
    assert b"amd.com/gpu" in converted(results["good.yaml"])


def test_large_files_that_are_no_concern_of_ours_are_copied_without_a_word(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    weights = b"nvidia \0" + b"w" * (9 << 20)
    (source / "weights.bin").write_bytes(weights)
    (source / "words.json").write_bytes(b'{"a": 1}\n' * (1 << 20))
    assert call(["convert", str(source), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "weights.bin").read_bytes() == weights
    assert (tmp_path / "out" / "words.json").stat().st_size == 9 << 20


def test_links_are_neither_followed_nor_written_through(tmp_path: Path) -> None:
    source, out, outside = tmp_path / "source", tmp_path / "out", tmp_path / "outside"
    source.mkdir()
    outside.mkdir()
    (outside / "secret.yaml").write_bytes(GOOD)
    (source / "loop").symlink_to(source)
    (source / "away.yaml").symlink_to(outside / "secret.yaml")
    (source / "sub").mkdir()
    (source / "sub" / "good.yaml").write_bytes(GOOD)
    out.mkdir()
    (out / "sub").symlink_to(outside)
    assert call(["convert", str(source), "-o", str(out)]) == 2
    assert sorted(os.listdir(outside)) == ["secret.yaml"]
    assert (outside / "secret.yaml").read_bytes() == GOOD


def test_names_may_hold_quotes_and_line_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = 'it\'s "a"\n\x1b[31m name.yaml'
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(GOOD)
    assert call(["convert", str(tmp_path / "in"), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / name).read_bytes() == GOOD.replace(b"nvidia", b"amd")
    assert "\x1b" not in capsys.readouterr().out


def test_names_that_are_not_utf8_are_converted(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\xfe.yaml"
    with open(name, "wb") as file:
        file.write(GOOD)
    assert call(["convert", str(tmp_path), "--in-place"]) == 0
    with open(name, "rb") as file:
        assert file.read() == GOOD.replace(b"nvidia", b"amd")
    assert call(["convert", str(tmp_path), "--undo"]) == 0
    with open(name, "rb") as file:
        assert file.read() == GOOD


def test_files_inside_files_inside_files_end_somewhere(tmp_path: Path) -> None:
    text = "nvidia.com/gpu: 1"
    for depth in range(1, 12):
        text = "patch: |\n" + "\n".join("  " + line for line in text.split("\n"))
        assert depth
    (tmp_path / "a.yaml").write_text(text + "\n")
    result = run(tmp_path)["a.yaml"]
    assert result.converted is not None and result.converted.refusals


LONG = {
    "the same key": "image:\n" + "  repository: nvidia/cuda\n" * 2000,
    "ports of an exporter": "kind: Service\nmetadata: {name: dcgm}\nspec:\n" + "  port: 9400\n" * 2000,
    "anchors": "".join(f"k{i}:\n  runtimeClassName: &r{i} nvidia\n  b: 1\n" for i in range(2000)),
    "documents": "---\nkind: DaemonSet\nimage: nvcr.io/nvidia/k8s-device-plugin:1\n" * 2000,
    "words of a command": "args:\n" + "  - nvidia-smi\n" * 2000,
    "braces that nobody closes": "a: {{" + " nvidia" * 5000 + "\n",
    "comments that nobody closes": "{{/* nvidia " * 5000 + "\n",
    "empty lines": "a:\n  b.txt: |\n" + "\n" * 50_000 + "    nvidia\n",
    "files in a file": "".join(f"k{i}.yaml: |\n  nvidia.com/gpu: 1\n" for i in range(1000)),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_file_takes_no_longer_than_its_length(name: str) -> None:
    """What grew with the square of the length would take minutes here."""
    data = LONG[name].encode()
    result = convert(data, PurePath("values.yaml"), Options())
    assert result.findings
    assert not list(sweep.uncovered(data, [(finding.start, finding.end) for finding in result.findings]))
