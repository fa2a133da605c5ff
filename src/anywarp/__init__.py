"""Run software written for NVIDIA CUDA on other devices, unchanged.

The package is laid out in rooms; `docs/layout.md` says which room does what and who may import whom.
"""

__version__ = "0.1.0"


def load_ipython_extension(shell: object) -> None:
    """Do in a notebook, by `%load_ext anywarp`, what `import anywarp.torch` does."""
    import importlib

    importlib.import_module("anywarp.torch")  # late: a plain `import anywarp` serves nothing
