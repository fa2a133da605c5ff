"""Where assess and convert once read a file by different rules, both now see what the format's manual says."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from anywarp.deploy.convert.engine import convert
from anywarp.deploy.convert.model import Options
from migrate.scan.seen import findings


def both(scanner: str, name: str, text: str) -> tuple[list[str], str]:
    """Return the names that assess finds in a file, and what convert makes of it."""
    return [one[3] for one in findings(scanner, name, text)], convert(
        text.encode(), PurePath(name), Options()
    ).new.decode()


@pytest.mark.parametrize(
    ("text", "names", "after"),
    [
        # convert did not look into these
        ("HEALTHCHECK --interval=5s CMD nvidia-smi\n", ["nvidia-smi"], "HEALTHCHECK --interval=5s CMD amd-smi monitor\n"),
        ('HEALTHCHECK CMD ["nvidia-smi"]\n', ["nvidia-smi"], 'HEALTHCHECK CMD ["amd-smi", "monitor"]\n'),
        ("ONBUILD RUN pip install cupy-cuda12x\n", ["cupy-cuda12x"], "ONBUILD RUN pip install cupy-rocm-7-0\n"),
        ("# escape=`\nRUN pip install `\n  cupy-cuda12x\n", ["cupy-cuda12x"], "# escape=`\nRUN pip install `\n  cupy-rocm-7-0\n"),
        ("RUN docker run x nvidia-smi\n", ["nvidia-smi"], "RUN docker run x amd-smi monitor\n"),
        # assess did not find these
        ("RUN\\\n pip install cupy-cuda12x\n", ["cupy-cuda12x"], "RUN\\\n pip install cupy-rocm-7-0\n"),
        ("RUN bash <<E\npip install cupy-cuda12x\nE\n", ["cupy-cuda12x"], "RUN bash <<E\npip install cupy-rocm-7-0\nE\n"),
        ("RUN pip install \\\n\n  cupy-cuda12x\n", ["cupy-cuda12x"], "RUN pip install \\\n\n  cupy-rocm-7-0\n"),
        ("ENV CUDA_LAUNCH_BLOCKING a=1\n", ["CUDA_LAUNCH_BLOCKING"], "ENV HIP_LAUNCH_BLOCKING a=1\n"),
        ("FROM x\nCOPY --link \\\n --from=nvidia/cuda:12.4.1-base-ubuntu22.04 /a /b\n", ["nvidia/cuda:12.4.1-base-ubuntu22.04"], "FROM x\nCOPY --link \\\n --from=rocm/dev-ubuntu-22.04:7.1 /a /b\n"),
        # neither did: without a dash tabs end no here-document, and blanks never do
        ("RUN <<E\n\tE\npip install cupy-cuda12x\nE\n", ["cupy-cuda12x"], "RUN <<E\n\tE\npip install cupy-rocm-7-0\nE\n"),
        # convert took the default away where a stage says that it reads the argument
        (
            "ARG V=12.4.1\nFROM ubuntu\nARG V\nFROM nvidia/cuda:${V}-base-ubuntu22.04\n",
            ["nvidia/cuda:12.4.1-base-ubuntu22.04"],
            "ARG V=12.4.1\nFROM ubuntu\nARG V\nFROM rocm/dev-ubuntu-22.04:7.1\n",
        ),
        # convert read what is for Python as a script
        ("RUN <<E python3\nexport CUDA_LAUNCH_BLOCKING=1\nE\n", [], "RUN <<E python3\nexport CUDA_LAUNCH_BLOCKING=1\nE\n"),
    ],
)  # fmt: skip
def test_dockerfiles(text: str, names: list[str], after: str) -> None:
    assert both("dockerfile", "Dockerfile", text) == (names, after)


@pytest.mark.parametrize(
    ("text", "names", "after"),
    [
        # both took a comment to go on: the line after it was lost
        ("# gpu \\\ncupy-cuda12x\n", ["cupy-cuda12x"], "# gpu \\\ncupy-rocm-7-0\n"),
        # assess read the first of several lines alone, and so the version was not known; convert did not read a version on a line of its own
        ("cupy-cuda12x \\\n  >=12\n", ["cupy-cuda12x"], "cupy-rocm-7-0>=12\n"),
        # convert read one option of a line, and none that is joined to its value
        (
            "--no-index -fhttps://download.pytorch.org/whl/cu124\n",
            ["https://download.pytorch.org/whl/cu124"],
            "--no-index -fhttps://download.pytorch.org/whl/rocm7.1\n",
        ),
    ],
)
def test_requirements(text: str, names: list[str], after: str) -> None:
    assert both("requirements", "requirements.txt", text) == (names, after)


def test_a_hash_on_the_next_line_binds_whatever_ends_the_lines() -> None:
    """convert did not see a line go on that ends in a carriage return, and changed what its hash forbids."""
    text = b"cupy-cuda12x>=12 \\\r\n    --hash=sha256:ab\r\n"
    result = convert(text, PurePath("requirements.txt"), Options())
    assert result.new == text and [one.code for one in result.refusals] == ["Y035"]


def test_a_list_of_requirements_of_any_name_is_converted() -> None:
    assert both("requirements", "more.txt", "numpy==1\ncupy-cuda12x\n") == (
        ["cupy-cuda12x"],
        "numpy==1\ncupy-rocm-7-0\n",
    )


def test_thresholds_belong_to_what_they_are_compared_with() -> None:
    """assess took the first number after the first name for a limit of every metric, and labels of other metrics for NVIDIA's."""
    from migrate.scan.seen import uses

    rule = "groups:\n- rules:\n  - expr: DCGM_FI_DEV_FB_USED and on (pod) (90 < DCGM_FI_DEV_GPU_UTIL) and up{gpu='1'} > 0\n"
    found = {use.name: use.detail("threshold") for use in uses("manifests", "rules.yml", rule)}
    assert found == {"DCGM_FI_DEV_FB_USED": "", "DCGM_FI_DEV_GPU_UTIL": "> 90"}
