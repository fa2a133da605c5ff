"""Production is told from tests, samples and old releases; one decision is counted once; what is easiest to move comes first."""

import pytest

from anywarp.migrate.assess import Plan, assess
from anywarp.migrate.standing import standing
from anywarp.migrate.summary import summarize
from anywarp.migrate.target import parse_target


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("serve/main.py", ""), ("latest/run.sh", ""), ("contest/x.py", ""), ("protest.py", ""), ("attest.go", ""),
        ("tests/a.py", "tests"), ("a/test_x.py", "tests"), ("a/x_test.go", "tests"), ("a/x.spec.ts", "tests"),
        ("examples/x/y.yaml", "samples"), ("Docs/x.yaml", "samples"), ("x.whl!/tests/a.py", "tests"),
        ("third_party/x.cu", "others' code"), ("install/v0.9.1/x.yaml", "old releases"), ("legacy/x.sh", "old releases"),
    ],
)  # fmt: skip
def test_folders_say_where_a_file_stands(path, what):
    assert standing(path) == what


def summary_of(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return summarize(assess(Plan([str(tmp_path)], parse_target("hip:gfx942", "7.1"), keep=False)))


def test_importing_torch_in_many_files_is_one_decision(tmp_path):
    one = summary_of(tmp_path / "one", {"a.py": "import torch\n"})
    many = summary_of(tmp_path / "many", {f"p/m{n}.py": "import torch\n" for n in range(40)})
    shares = {s.answer: s for s in many.shares}
    assert shares["re-index"].findings == 40 and shares["re-index"].decisions == 1
    assert many.days == one.days


def test_an_images_release_is_no_matter_of_weeks(tmp_path):
    found = summary_of(tmp_path, {"Dockerfile": "FROM nvidia/cuda:11.8.0-devel-centos7\n"})
    assert found.days.high <= 1.0


def test_tests_and_samples_are_counted_apart_and_moved_last(tmp_path):
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n  - image: {image}\n"
    found = summary_of(
        tmp_path,
        {
            "prod/hard.yaml": pod.format(name="hard", image="nvcr.io/nvidia/tritonserver:24.05-py3"),
            "prod/easy.yaml": pod.format(name="easy", image="nvidia/cuda:12.4.1-devel-ubuntu22.04"),
            "examples/sample.yaml": pod.format(name="sample", image="nvidia/cuda:12.4.1-devel-ubuntu22.04"),
        },
    )
    assert [name.rpartition("/")[2] for name in found.order] == ["easy", "hard", "sample"]
    assert [a.what for a in found.aside] == ["samples"] and found.aside[0].findings >= 1
    assert "prod/" in found.blockers[0].first.path
