"""Commands of pip, Docker, conda and Slurm, files of variables, setup.cfg and lock files: which word, which value, and where it stands."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from anywarp.migrate.formats import command_words, env_file, lock_files, setup_cfg, slurm
from anywarp.migrate.formats.shell_words import split_words


@pytest.mark.parametrize(
    ("text", "verb", "arguments"),
    [
        ("pip install -q torch numpy", "install", ["torch", "numpy"]),
        ("pip --proxy x install --no-cache-dir -U torch", "install", ["torch"]),
        ("pip install -rbase.txt -i=https://a torch", "install", ["--requirement base.txt", "--index-url https://a", "torch"]),
        ("pip install --target /x --extra-index-url=https://a torch > log 2>&1", "install", ["--target /x", "--extra-index-url https://a", "torch"]),
        ("uv sync --extra torch --frozen", "sync", ["--extra torch"]),
        ("uv pip sync a.txt b.txt", "sync", ["--requirement a.txt", "--requirement b.txt"]),
        ("pip list --format json", "", []),
    ],
)  # fmt: skip
def test_pip(text: str, verb: str, arguments: list[str]) -> None:
    words = text.split()
    done, found = command_words.pip(words)
    assert done == verb
    assert [f"{one.name} {one.value}".strip() for one in found if one.value] == arguments
    assert all(one.value in words[one.last] for one in found)


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("docker run --rm -it --gpus all x nvidia-smi", "x"),
        ("docker run -itv /a:/b x", "x"),
        ("docker run -p80:80 -v=/a:/b --name nvidia/cuda x", "x"),
        ("docker run --gpus=all --device nvidia.com/gpu=all -e A=b x y", "x"),
        ("docker run -d", ""),
    ],
)
def test_the_image_of_a_container_stands_behind_its_options(text: str, image: str) -> None:
    words = text.split()
    _, at = command_words.container(words, 2)
    assert (words[at] if at < len(words) else "") == image


def test_what_conda_is_asked_for() -> None:
    spec = command_words.conda("nvidia/label/cuda-12.1::cuda-toolkit=12.1=x  # y")
    assert spec is not None and (spec.channel, spec.name, spec.rest) == (
        "nvidia/label/cuda-12.1",
        "cuda-toolkit",
        "=12.1=x",
    )
    spec = command_words.conda("pytorch[version='>=2']")
    assert spec is not None and (spec.name, spec.rest) == ("pytorch", "[version='>=2']")
    assert command_words.conda("-c nvidia") is None


def test_sbatch_reads_its_options_up_to_the_first_command() -> None:
    text = "#!/bin/bash\n\n#SBATCH --gres=gpu:a100:4 -C 'h100' # -G 3\n# note\n #SBATCH -G 1\n#SBATCH --gpus v100:2\nsrun x\n#SBATCH -G 5\n"
    found = [
        [(word, text[place:].startswith(("'", word))) for word, place in words] for words in slurm.directives(text)
    ]
    assert found == [[("--gres=gpu:a100:4", True), ("-C", True), ("h100", True)], [("--gpus", True), ("v100:2", True)]]
    asked = [
        (one.name, one.value) for words in slurm.directives(text) for one in slurm.options([word for word, _ in words])
    ]
    assert asked == [("gres", "gpu:a100:4"), ("constraint", "h100"), ("gpus", "v100:2")]


def test_settings_of_slurm() -> None:
    text = '# Type=a\nNodeName=n1 Name = gpu type="a100 x" File=/dev/nvidia[0-3]#c\n'
    found = list(slurm.settings(text))
    assert [(one.name, one.value) for one in found] == [
        ("nodename", "n1"),
        ("name", "gpu"),
        ("type", "a100 x"),
        ("file", "/dev/nvidia[0-3]"),
    ]
    assert all(text[one.start : one.end] == one.value for one in found)


def test_files_of_variables() -> None:
    text = "# A=0\nexport A=8.6;8.9+PTX\nB = no\nC='x y'  # note\r\nD="
    found = list(env_file.variables(text))
    assert [(one.name, one.value) for one in found] == [("A", "8.6;8.9+PTX"), ("C", "x y"), ("D", "")]
    assert [text[one.start : one.end] for one in found] == ["A=8.6;8.9+PTX", "C='x y'", "D="]


def test_requirements_of_setup_cfg() -> None:
    text = "[options]\npython_requires = >=3.9\ninstall_requires:\n    torch>=1.8\n  ; numpy\n    # x\n    [no header]\ntests_require = a>1; b\n[options.extras_require]\ngpu = cupy\n"
    found = list(setup_cfg.requirements(text))
    assert [(one.key, one.text) for one in found] == [
        ("install_requires", "torch>=1.8"),
        ("install_requires", "[no header]"),
        ("tests_require", "a>1"),
        ("tests_require", "b"),
        ("gpu", "cupy"),
    ]
    assert all(text[one.start : one.end] == one.text for one in found)


def test_lock_files() -> None:
    assert lock_files.made_by(PurePath("x/uv.lock")) == "uv lock" and lock_files.made_by(PurePath("pylock.gpu.toml"))
    assert not lock_files.made_by(PurePath("flake.lock")) and not lock_files.made_by(PurePath("pylock.a.b.toml"))


def test_a_here_document_of_a_shell_ends_at_its_mark_alone() -> None:
    def commands(text: str) -> list[str]:
        return [words[0][0] for words in split_words(text)]

    assert commands("cat <<E\n E\nb\nE\nc") == ["cat", "c"]
    assert commands("cat <<-E\nb\n\tE\nc") == ["cat", "c"]
    assert commands("  cat <<E\n  b\n  E\n  c") == ["cat", "c"], "a script that is indented as a whole"
