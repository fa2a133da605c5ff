"""`anywarp nvcc`: compile CUDA C++ as NVIDIA's compiler driver does, with our headers and a clang.

Every word behind the verb is nvcc's: nothing of ours is mixed in, so that build systems can be pointed at it.
"""

from __future__ import annotations

import click


@click.command(
    "nvcc", context_settings={"ignore_unknown_options": True, "help_option_names": [], "allow_interspersed_args": False}
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(words: tuple[str, ...]) -> int:
    """Compile CUDA C++; takes the options of nvcc, which --help lists."""
    from anywarp.toolchain.driver import run  # late: the list of verbs does not need it

    return run(words)
