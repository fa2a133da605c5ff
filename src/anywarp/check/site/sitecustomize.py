"""What every Python under `anywarp record` and `anywarp verify` executes at its start: it waits for what it can record.

It stands beside the sitecustomize of `anywarp run`, before or behind it, and like that imports nothing until the program imports a framework.
"""

# pyright: basic
import sys

HERE = __file__.rpartition("/")[0]
PACKAGE = HERE.rpartition("/check/")[0]


class Door:
    """Stands in `sys.meta_path` until somebody imports what can be recorded; then the real finder takes its place."""

    stands_for = "anywarp.check.door"
    names = ("torch", "onnxruntime", "jax")

    def find_spec(self, name, path=None, target=None):
        if name not in self.names:
            return None
        return hook(self.stands_for).install(self).find_spec(name, path, target)


def hook(name):
    """Import a module of the package that this file belongs to, by its place (as runtime/site/sitecustomize.py does)."""
    if "anywarp" not in sys.modules:
        from importlib.util import module_from_spec, spec_from_file_location

        spec = spec_from_file_location("anywarp", PACKAGE + "/__init__.py", submodule_search_locations=[PACKAGE])
        assert spec is not None and spec.loader is not None
        module = sys.modules["anywarp"] = module_from_spec(spec)
        spec.loader.exec_module(module)
    from importlib import import_module

    return import_module(name)


def hidden():
    """Execute the sitecustomize that this one hides, if there is one: of those behind it, the first."""
    places = sys.path[sys.path.index(HERE) + 1 :] if HERE in sys.path else []
    for finder in sys.meta_path:
        spec = finder.find_spec("sitecustomize", places)
        if spec is not None and spec.loader is not None:
            from _frozen_importlib import module_from_spec

            module = sys.modules["sitecustomize"] = module_from_spec(spec)
            spec.loader.exec_module(module)
            return


sys.meta_path.insert(0, Door())
hidden()
