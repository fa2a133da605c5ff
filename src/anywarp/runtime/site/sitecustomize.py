"""What every Python under `anywarp run` executes at its start: it waits for the frameworks that it has a door for.

Python imports a module of this name from PYTHONPATH, whoever started it and from whatever environment. So this file imports
nothing, costs next to nothing, and runs on any Python 3; the rest of anywarp is imported when they are.
"""

# pyright: basic
import sys

HERE = __file__.rpartition("/")[0]
PACKAGE = HERE.rpartition("/runtime/")[0]


class Door:
    """Stands in `sys.meta_path` until somebody imports a framework; then the real finder takes its place."""

    def __init__(self, framework, stands_for):
        self.framework, self.stands_for = framework, stands_for

    def find_spec(self, name, path=None, target=None):
        if name != self.framework:
            return None
        return hook(self.stands_for).install().find_spec(name, path, target)


def hook(name):
    """Import a module of the package that this file belongs to.

    By its place, not by sys.path: what lies beside the package belongs to another environment than the program's.
    """
    if "anywarp" not in sys.modules:
        from importlib.util import module_from_spec, spec_from_file_location

        spec = spec_from_file_location("anywarp", PACKAGE + "/__init__.py", submodule_search_locations=[PACKAGE])
        assert spec is not None and spec.loader is not None
        module = sys.modules["anywarp"] = module_from_spec(spec)
        spec.loader.exec_module(module)
    from importlib import import_module

    return import_module(name)


def hidden():
    """Execute the sitecustomize that this one hides, if there is one, as Python would have."""
    places = [place for place in sys.path if place != HERE]
    for finder in sys.meta_path:
        spec = finder.find_spec("sitecustomize", places)
        if spec is not None and spec.loader is not None:
            from _frozen_importlib import module_from_spec

            module = sys.modules["sitecustomize"] = module_from_spec(spec)
            spec.loader.exec_module(module)
            return


sys.meta_path[:0] = [
    Door("torch", "anywarp.frameworks.torch.hook"),
    Door("cuda.bindings", "anywarp.frameworks.cuda_bindings"),
    Door("cupy", "anywarp.frameworks.cupy"),
    Door("jax", "anywarp.frameworks.jax"),
    Door("tensorflow", "anywarp.frameworks.tensorflow"),
    Door("tensorrt", "anywarp.frameworks.tensorrt.adapter"),
]
hidden()
