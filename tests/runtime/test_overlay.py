"""Which environment a command belongs to, by its file alone."""

import os
import subprocess
import sys

import pytest

from anywarp.runtime import overlay


@pytest.fixture
def environment(tmp_path):
    folder = tmp_path / "an environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", folder], check=True, timeout=60)
    return folder


@pytest.mark.parametrize(
    "text",
    [
        "#!{link}/bin/python3\n",
        "#!{link}/bin/python -u\nprint()\n",
        "#!/bin/sh\n'''exec' \"{folder}/bin/python\" \"$0\" \"$@\"\n' '''\n",
    ],
)
def test_a_script_belongs_to_the_environment_of_its_interpreter(environment, tmp_path, text):
    (tmp_path / "link").symlink_to(environment)
    script = tmp_path / "tool"
    script.write_text(text.format(link=tmp_path / "link", folder=environment))
    script.chmod(0o755)
    assert overlay.environment_of(str(script), "/usr/bin:/bin") == str(environment.resolve())


def test_a_python_belongs_to_its_own_and_env_to_the_first_on_the_path(environment, tmp_path):
    path = f"{environment}/bin:/usr/bin:/bin"
    script = tmp_path / "tool"
    script.write_text("#!/usr/bin/env -S A=1 python\n")
    script.chmod(0o755)
    for program in ("python3", str(script)):
        assert overlay.environment_of(program, path) == str(environment.resolve())
    assert overlay.environment_of(str(environment / "bin" / "python"), "/nowhere") == str(environment.resolve())


def test_a_program_that_is_no_pythons_is_taken_for_the_one_that_children_would_find(environment):
    assert overlay.environment_of("/bin/sh", f"{environment}/bin") == str(environment.resolve())
    assert overlay.environment_of("/bin/sh", "/nowhere") is None


def test_a_python_without_an_environment_belongs_to_where_its_file_lies(environment, tmp_path):
    (tmp_path / "python3").symlink_to(sys.executable)
    real = os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))
    assert overlay.prefix_of(str(tmp_path / "python3")) == real
