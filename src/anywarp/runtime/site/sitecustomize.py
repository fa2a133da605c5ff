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


class Neighbours:
    """The same for packages beside torch that may be answered by ours."""

    names = ("amp_C", "apex", "flash_attn", "transformer_engine")
    stands_for = "anywarp.frameworks.neighbours.registry"

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.names:
            return None
        return hook(self.stands_for).install().find_spec(name, path, target)

    def find_distributions(self, context=None):
        if (getattr(context, "name", None) or "").replace("-", "_") not in self.names:
            return ()
        return hook(self.stands_for).install().find_distributions(context)


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
    """Execute the sitecustomize that this one hides, if there is one, as Python would have: those before it have been executed."""
    places = sys.path[sys.path.index(HERE) + 1 :] if HERE in sys.path else sys.path
    places = [place for place in places if place != HERE]
    for finder in sys.meta_path:
        spec = finder.find_spec("sitecustomize", places)
        if spec is not None and spec.loader is not None:
            from _frozen_importlib import module_from_spec

            module = sys.modules["sitecustomize"] = module_from_spec(spec)
            spec.loader.exec_module(module)
            return


def lay_over(records):
    """Put the packages for ROCm that `anywarp env make` laid beside this environment (runtime/overlay.py) before its own packages.

    What comes before those stays before: the program's folder and PYTHONPATH. An overlay whose packages are no longer those that it was
    made for is left out, with a line that says so.
    """
    from os import path

    text = ""
    for root in (records, "/opt/anywarp/overlays/environments"):  # the user's own, that of an image (overlay.IMAGE)
        try:
            with open(root + path.realpath(sys.prefix) + "/anywarp-overlay.json", encoding="utf-8") as file:
                text = file.read()
            break
        except OSError:
            continue
    if not text:
        return
    from json import loads

    record = loads(text)
    changed = [each["name"] for each in record["replaced"] if not path.isdir(each["place"])]
    if record["python"] != f"{sys.version_info[0]}.{sys.version_info[1]}":
        changed.append("Python")
    if changed:
        what = f"{', '.join(changed)} in {sys.prefix} changed since packages for ROCm were laid beside it"
        sys.stderr.write(f"anywarp: error[R032]: {what}: they are left out\n  help: anywarp env make\n")
        return
    ends = [each.rstrip("/").rpartition("/")[2] for each in sys.path]
    first = next((at for at, end in enumerate(ends) if end in ("site-packages", "dist-packages")), len(ends))
    sys.path.insert(first, record["overlay"])


def begin():
    """Do what the device wants: packages for an AMD GPU and what mends others there, stand-ins for the processor."""
    from os import environ  # noqa: TID251 - nothing of anywarp is imported here

    records, device = environ.get("ANYWARP_OVERLAYS"), environ.get("ANYWARP_DEVICE", "")
    if records:
        lay_over(records)
        rocm = "anywarp.frameworks.torch.rocm."
        sys.meta_path[:0] = [
            Door("cuda.bindings", "anywarp.frameworks.cuda_bindings"),
            Door("torch", rocm + "itself"),
            Door("torchtitan.tools.utils", rocm + "capability"),
            Door("flash_attn", rocm + "flash_attention"),
            Door("pip", rocm + "installer"),
            Door("bitsandbytes", rocm + "bitsandbytes"),
            Door("torch.utils.hipify.hipify_python", rocm + "extensions"),
            Door("xformers.ops", rocm + "xformers"),
            Door("triton.runtime.autotuner", rocm + "triton_launch"),
            Door("triton.runtime.jit", rocm + "triton_launch"),
            Door("triton.language.extra.cuda", rocm + "triton_cuda"),
            Door("aiter", rocm + "aiter"),
            Door("vllm", rocm + "vllm"),
            Door("sgl_kernel", rocm + "cuda_only"),
            Door("flashinfer", rocm + "cuda_only"),
        ]
    elif device not in ("", "cpu"):  # an accelerator of torch's own
        sys.meta_path.insert(0, Door("torch", "anywarp.frameworks.torch.hook"))
    else:
        sys.meta_path[:0] = [
            Door("torch", "anywarp.frameworks.torch.hook"),
            Door("cuda.bindings", "anywarp.frameworks.cuda_bindings"),
            Door("cupy", "anywarp.frameworks.cupy"),
            Door("jax", "anywarp.frameworks.jax"),
            Door("tensorflow", "anywarp.frameworks.tensorflow"),
            Door("tensorrt", "anywarp.frameworks.tensorrt.adapter"),
            Door("vllm", "anywarp.frameworks.vllm.hook"),
            Neighbours(),
        ]


begin()
hidden()
