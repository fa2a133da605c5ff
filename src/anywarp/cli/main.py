"""The command `anywarp`: its verbs, each imported only when it is used, and how problems become exit codes.

Exit codes: 0 fine, 1 findings, 2 could not do it; `run` passes on the exit code of the program.
"""

from __future__ import annotations

from anywarp import start

start.put_programs_folders_last()  # before anything else is imported

import importlib  # noqa: E402
import sys  # noqa: E402
from typing import Any  # noqa: E402

import click  # noqa: E402

from anywarp import __version__  # noqa: E402
from anywarp.diagnostics import AnywarpError, Diagnostic  # noqa: E402
from anywarp.settings import SettingError  # noqa: E402

VERBS = {
    "run": "Run a CUDA program on another device, unchanged.",
    "doctor": "Show what this machine has, what works, and what to do next.",
    "report": "Show where the time of a traced run went, as tables or as a time line in HTML.",
    "inspect": "Show which GPU code a file holds, and which of it cannot run here.",
    "assess": "Find what depends on CUDA in a tree, environment or image, and what becomes of it.",
    "nvcc": "Compile CUDA C++ as nvcc does, without a CUDA toolkit.",
    "compile": "Compile kernels of a file; show any stage and the reasons for the code.",
    "translate": "Translate CUDA C++ and its build files to HIP.",
    "convert": "Convert manifests, images, packages, jobs and alert rules around a CUDA program.",
    "webhook": "Convert pods of a Kubernetes cluster as they are made.",
    "image": "Put anywarp into an image for containers, as a layer upon it.",
    "env": "Lay packages for AMD GPUs beside an environment that was installed for CUDA.",
    "rollout": "Move traffic from one pool of servers to another, step by step, and back when a gate fails.",
    "shadow": "Answer callers from one pool, and hold another pool's answers against it, unseen.",
    "fleet": "Verify, bench and assess as matrices over many machines; assess a whole organisation.",
    "selftest": "Check that a device computes what it must, and write a report.",
    "record": "Record what a program's model computes, to be verified on another device.",
    "verify": "Hold a program's model on this device against a recording.",
    "bench": "Measure a model, a command or an endpoint, alone or in turns with another device.",
    "cost": "Compare what two sides cost for the same service, from measured results and a price file.",
    "results": "List, show, compare, export and remove results of bench, verify, cost and rollout.",
    "ui": "Show results and rollouts in a browser.",
    "sanitize": "Find what kernels do wrong, by the options of NVIDIA's compute-sanitizer.",
    "smi": "Show the devices as nvidia-smi does.",
    "export": "Export a model of PyTorch to ONNX, and hold it against PyTorch.",
    "explain": "Print the page of a diagnostic, such as P001.",
    "cache": "Show, clear or fill the cache of compiled kernels.",
}
"""Each verb with its line in --help; the file of that name defines the click command as `command`."""


class _Verbs(click.Group):
    """Lists the verbs without importing them, so that `anywarp run` starts quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        return importlib.import_module(f"anywarp.cli.{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="anywarp")
def anywarp() -> None:
    """Run software written for NVIDIA CUDA on other devices, unchanged."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(call(sys.argv[1:]))


def call(arguments: list[str]) -> int:
    """Run the command line with these arguments and return the exit code; problems are told on stderr."""
    try:
        result: Any = anywarp.main(arguments, prog_name="anywarp", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except AnywarpError as error:
        click.echo(error.diagnostic.as_text(), err=True)
    except SettingError as error:
        click.echo(Diagnostic("S001", str(error), help="docs/settings.md lists every variable").as_text(), err=True)
    return 2
