"""Nothing to import: every Python that `anywarp run` starts, and every process that one starts, finds `cuda` in torch."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.torch

SAY = "import torch; print(torch.cuda.is_available(), torch.ones(2, device='cuda').sum().item())"
SERVED = "True 2.0\n"


def test_a_program_gets_cuda_and_nothing_else_of_ours(under_anywarp, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        f"import sys\nbefore = list(sys.path)\n{SAY}\n"
        "assert type(torch.__loader__).__module__ == type(torch.__spec__.loader).__module__ == '_frozen_importlib_external'\n"
        "assert type(torch.cuda.__loader__).__module__ == '_frozen_importlib_external'\n"
        "print([m for m in ('llvmlite', 'click', 'rich', 'anywarp.compiler') if m in sys.modules], sys.path == before)\n"
    )
    done = under_anywarp(script)
    assert (done.returncode, done.stdout, done.stderr) == (0, SERVED + "[] True\n", "")


def test_processes_that_fork_or_spawn_are_served(under_anywarp, tmp_path):
    script = tmp_path / "many.py"
    script.write_text(
        "import multiprocessing, sys, torch\n"
        "def work(say):\n    say.put((torch.cuda.is_available(), torch.ones(2, device='cuda').sum().item()))\n"
        "if __name__ == '__main__':\n"
        "    for kind in ('fork', 'spawn', 'forkserver'):\n"
        "        context = multiprocessing.get_context(kind)\n"
        "        say = context.SimpleQueue()\n"
        "        child = context.Process(target=work, args=(say,))\n"
        "        child.start(); child.join(100); assert child.exitcode == 0, (kind, child.exitcode)\n"
        "        print(kind, *say.get())\n"
    )
    done = under_anywarp(script)
    assert done.stdout == "fork True 2.0\nspawn True 2.0\nforkserver True 2.0\n", done.stderr


def test_workers_of_a_data_loader_are_served(under_anywarp, tmp_path):
    script = tmp_path / "load.py"
    script.write_text(
        "import torch\n"
        "class Squares(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 4\n"
        "    def __getitem__(self, i): return torch.tensor([i * i, int(torch.cuda.is_available())])\n"
        "if __name__ == '__main__':\n"
        "    for kind in ('fork', 'spawn'):\n"
        "        load = torch.utils.data.DataLoader(\n"
        "            Squares(), batch_size=2, num_workers=1, pin_memory=True, multiprocessing_context=kind)\n"
        "        print([batch.to('cuda', non_blocking=True).tolist() for batch in load])\n"
    )
    done = under_anywarp(script)
    assert done.stdout == "[[[0, 1], [1, 1]], [[4, 1], [9, 1]]]\n" * 2, done.stderr


def test_pytest_and_commands_of_the_shell_are_served(under_anywarp, tmp_path):
    (tmp_path / "test_it.py").write_text("import torch\ndef test_it(): assert torch.ones(2, device='cuda').is_cuda\n")
    done = under_anywarp("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path, cwd=tmp_path)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    nested = f"import subprocess, sys; subprocess.run(['sh', '-c', '\"$0\" -c \"$1\"', sys.executable, {SAY!r}])"
    assert under_anywarp("-c", nested).stdout == SERVED


def test_a_sitecustomize_that_ours_hides_is_executed(under_anywarp, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.theirs = __file__\n")
    code = f"import sys, sitecustomize; print(sys.theirs == sitecustomize.__file__); {SAY}"
    done = under_anywarp("-c", code, env={"PYTHONPATH": str(tmp_path)})
    assert done.stdout == f"True\n{SERVED}", done.stderr


def test_pure_leaves_python_alone():
    code = (
        "import sys, torch; theirs = getattr(sys.modules.get('sitecustomize'), '__file__', ''); "  # some systems have one
        "print(torch.cuda.is_available(), 'anywarp' in sys.modules, 'anywarp/runtime/site' in theirs)"
    )
    command = [sys.executable, "-m", "anywarp", "run", "--"]
    pure = [*command[:-1], "--pure", "--", sys.executable, "-c", code]
    for each in (pure, [*command, *pure]):
        done = subprocess.run(each, capture_output=True, text=True, timeout=100)
        assert done.stdout == "False False False\n", done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "served"),
    [
        ("ANYWARP_TORCH_SCOPE", "other.py", False),
        ("ANYWARP_TORCH_SCOPE", "other.py, train.py", True),
        ("ANYWARP_TORCH_BLOCK", "train", False),
    ],
)
def test_the_lists_say_which_programs_are_served(under_anywarp, tmp_path, variable, value, served):
    script = tmp_path / "train.py"
    script.write_text("import torch; print(torch.cuda.is_available())")
    assert under_anywarp(script, env={variable: value}).stdout == f"{served}\n"


class TestTheLine:
    """`import anywarp.torch`, in a process that nobody prepared."""

    def run(self, code, **env):
        clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD")}
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, env={**clean, **env}
        )

    def test_it_serves_the_process_and_its_children(self):
        done = self.run(
            f"import anywarp.torch, subprocess, sys; {SAY}; subprocess.run([sys.executable, '-c', {SAY!r}])"
        )
        assert sorted(done.stdout.splitlines()) == SERVED.split("\n")[:1] * 2, done.stderr

    def test_a_notebook_loads_it_as_an_extension(self):
        assert self.run(f"import anywarp; anywarp.load_ipython_extension(None); {SAY}").stdout == SERVED

    def test_twice_is_once(self, under_anywarp):
        assert (
            under_anywarp(
                "-c", f"import anywarp.torch; {SAY}; import anywarp; anywarp.load_ipython_extension(0)"
            ).stdout
            == SERVED
        )

    def test_too_late_is_an_error_that_says_what_to_do(self):
        done = self.run("import torch; import anywarp.torch")
        assert done.returncode == 1
        assert "error[F008]: torch was imported before anywarp.torch" in done.stderr
        assert "restart the kernel" in done.stderr


class TestExplainPatches:
    """`anywarp explain --patches`."""

    def explain(self, *words):
        command = [sys.executable, "-m", "anywarp", "explain", "--patches", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=200)

    def test_every_process_is_listed_with_reasons(self, tmp_path):
        script = tmp_path / "two.py"
        script.write_text(
            "import os, sys, torch\nprint(os.getpid())\nsys.stdout.flush()\n"
            "if len(sys.argv) == 1: os.spawnv(os.P_WAIT, sys.executable, [sys.executable, __file__, 'child'])\n"
        )
        done = self.explain("--format", "json", "--", sys.executable, script)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        processes = sorted(pid for each in told["processes"] for pid in each["processes"])
        assert processes == sorted(int(line) for line in done.stderr.split())
        changes = {each["target"]: each for each in told["processes"][0]["changes"]}
        assert changes["torch._C._cuda_getDeviceCount"]["added"] is True
        assert all(each["reason"] for each in changes.values())
        assert "environment: PYTHONPATH" in {each["target"] for each in told["environment"]}

    def test_in_a_pipe_it_is_columns_and_a_failing_command_is_told(self):
        done = self.explain("--", sys.executable, "-c", "import torch; raise SystemExit(3)")
        assert done.returncode == 2 and "exit code 3" in done.stderr
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        assert {len(row) for row in rows} == {4}
        assert "sys.meta_path" in {row[2] for row in rows}
