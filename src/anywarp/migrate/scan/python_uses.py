"""What counts as a use of CUDA in Python: imports, dotted names, strings. The reader of trees and the reader of words both ask here.

Which modules and names there are is the table `python_names.tsv`; here is what they look like.
"""

from __future__ import annotations

import re
from functools import cache

from anywarp.catalogue.migration import rows
from anywarp.catalogue.replacements import variable
from anywarp.migrate.scan.tally import Tally

Details = tuple[tuple[str, str], ...]

_DEVICE = re.compile(r"cuda(?::(?:\d{1,3}|\{\}|%d))?|cuda:")
_LIBRARY = re.compile(
    r"(?:lib)?(cuda|cudart|cublas|cublasLt|cudnn\w*|cufft|curand|cusolver|cusparse|nccl|nvrtc|nvidia-ml|nvToolsExt|cupti|nvJitLink|cufile|nvinfer)(?:64_\d+)?\.(?:so|dll|dylib)[\d.]*"
)
_VARIABLE = re.compile(
    r"(?:CUDA|NCCL|NVIDIA|CUDNN|CUBLAS|NVCC|NVTE|TORCH_CUDA|TORCH_NCCL|PYTORCH_CUDA|PYTORCH_NVML|NUMBA_CUDA|CUPY|TF_CUDA|TF_GPU|TRITON_PTXAS)_[A-Z0-9_]+"
)
_COMMAND = re.compile(
    r"\s*(?:\S*/)?(nvidia-smi|nvcc|nsys|ncu|cuda-gdb|compute-sanitizer|nvprof|cuobjdump|ptxas|trtexec|nvdisasm)(?:\s+[^\n]*)?\s*"
)
_BARE = frozenset({"nvcc", "ncu", "nsys", "ptxas"})  # alone it is a key of options more often than a command
_TOOLKIT = re.compile(r"/usr/local/cuda(?![a-z])[^\s\"']{0,80}")
_PROVIDER = re.compile(r"(?:CUDA|Tensorrt|NvTensorRTRTX)ExecutionProvider")
_OPTION = re.compile(r"flash_attention_[23]|kernels-community/flash-attn\d?")
_BACKEND = re.compile(r"(?:\w+:\w+,)*(?:cuda:)?nccl(?:,\w+:\w+)*")
_SOURCE = re.compile(
    rb"\b__global__\b|\b__device__\b|#\s*include\s*[<\"](?:cuda|cub/|thrust/|c10/cuda|ATen/cuda)|<<<|\bcuda[A-Z]\w+\s*\("
)
_CANDIDATE = re.compile(
    r"cuda|CUDA|nccl|NCCL|nvidia|NVIDIA|nv|ncu|Tensorrt|flash|CUBLAS|CUDNN|CUPY|TRITON|__global__|__device__|ptxas|trtexec|TF_GPU|NVTE|cu"
)
_PRIVATE_TORCH = re.compile(r"(?i)^_?(?:cu|nccl|nvtx|jiterator)|cuda|cudnn|nccl")
_CUDA_PART = re.compile(r"(?i)cuda|cudnn|nccl|nvtx|cublas|cusolver")
_EXTENSION_MODULE = re.compile(r"[A-Za-z]\w*_cuda(?:_ext|_kernels?|_lib)?|quant_cuda|fused_dense_cuda")
_LONGEST_SOURCE = 1 << 20

TORCH_NAMES = (
    "torch.cuda", "torch.backends.cudnn", "torch.backends.cuda", "torch.backends.cusparselt", "torch.version.cuda", "torch.utils.cpp_extension",
    "torch.distributed.ProcessGroupNCCL",
)  # fmt: skip
_EXTENSIONS = {
    "CUDAExtension": "CUDAExtension",
    "load_inline": "load_inline",
    "load": "load_inline",
    "CUDA_HOME": "",
    "BuildExtension": "",
}
_FRAMEWORKS = ("torch", "jax", "xgboost", "lightgbm", "catboost")


@cache
def modules() -> frozenset[str]:
    """Return the modules of the table, by full name."""
    return frozenset(row["name"] for row in rows("python_names") if row["kind"] == "module")


@cache
def packages() -> frozenset[str]:
    """Return the first parts of the modules of the table."""
    return frozenset(name.partition(".")[0] for name in modules())


def known_module(name: str) -> str:
    """Return the longest known module that `name` is or lies in, "" where there is none."""
    while name:
        if name in modules():
            return name
        name = name.rpartition(".")[0]
    return ""


class Uses:
    """Counts uses by what they are; offsets are those of the text. `sources` are strings that hold CUDA C++, with their places."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.sources: list[tuple[int, bytes]] = []
        self.imported: set[str] = set()

    def module(self, name: str, offset: int, guarded: bool = False) -> None:
        """Count an import of a module."""
        self.imported.add(name.partition(".")[0])
        if name in ("torch.cuda", "torch._C") or name.startswith(
            ("torch.cuda.", "torch.backends.", "torch.utils.cpp_extension")
        ):
            self.dotted(name, offset)
            return
        if name.startswith("triton.") and self._triton_import(name, offset):
            return
        if known := known_module(name):
            self.tally.add("python.import", known, offset, (("guarded", "yes"),) if guarded else ())
        elif _EXTENSION_MODULE.fullmatch(name):
            self.tally.add("python.kernel", "extension module", offset, (("module", name),))

    def _triton_import(self, name: str, offset: int) -> bool:
        if ".gluon" in name and ".nvidia" in name:
            self.tally.add("triton.feature", "gluon nvidia", offset)
        elif ".extra.cuda" in name:
            self.tally.add("triton.feature", "libdevice", offset)
        elif name.startswith(("triton.backends.nvidia", "triton._C.libtriton.nvidia")):
            self.tally.add("triton.feature", "nvidia backend", offset)
        elif name.startswith("triton.tools.tensor_descriptor"):
            self.tally.add("triton.feature", "tma", offset)
        else:
            return False
        return True

    def dotted(self, name: str, offset: int, called: bool = False) -> None:
        """Count a dotted name whose first part is an imported module, by its full name."""
        top = name.partition(".")[0]
        if top == "torch":
            self._torch(name, offset)
        elif top in ("pynvml", "nvidia_smi", "py3nvml"):
            leaf = name.rpartition(".")[2]
            if leaf.startswith(("nvml", "NVML")):
                self.tally.add("python.nvml", leaf, offset)
        elif top == "triton":
            self._triton(name, offset)
        elif top == "numba" and name.startswith("numba.cuda.jit"):
            self.tally.add("python.kernel", "numba", offset)
        elif top == "numba" and name.startswith("numba.cuda"):
            self.tally.add("python.import", "numba.cuda", offset)
        elif top in ("cupy", "pycuda") and name.rpartition(".")[2] in (
            "RawKernel",
            "RawModule",
            "ElementwiseKernel",
            "ReductionKernel",
            "SourceModule",
        ):
            self.tally.add("python.kernel", "cupy source" if top == "cupy" else "pycuda source", offset)
        elif name.startswith("cv2.cuda"):
            self.tally.add("python.import", "cv2.cuda", offset)
        elif name.startswith(("tensorflow.test.is_built_with_cuda", "tensorflow.sysconfig.get_build_info")):
            self.tally.add("python.import", "tensorflow", offset)
        elif top in ("cuda", "nvidia") and (known := known_module(name)):
            self.tally.add("python.import", known, offset)

    def _torch(self, name: str, offset: int) -> None:
        parts = name.split(".")
        if len(parts) > 2 and parts[1] == "_C":
            if _PRIVATE_TORCH.search(parts[2]):
                self.tally.add("torch.private", ".".join(parts[:3]), offset)
        elif parts[1:2] == ["cuda"] and len(parts) > 2 and parts[2].startswith("_") and not parts[2].startswith("__"):
            self.tally.add("torch.private", ".".join(parts[:3]), offset)
        elif name in ("torch.float8_e4m3fn", "torch.float8_e5m2"):
            self.tally.add("torch.fp8", name, offset)
        elif name.startswith("torch.utils.cpp_extension"):
            kind = _EXTENSIONS.get(parts[-1], "")
            if kind:
                self.tally.add("python.kernel", kind, offset)
            else:
                self.tally.add("torch.name", "torch.utils.cpp_extension", offset)
        elif parts[-1] in ("get_device_capability", "get_arch_list", "get_gencode_flags") and parts[1:2] == ["cuda"]:
            self.tally.add("torch.capability", ".".join(parts[:3]), offset)
        elif name.startswith(TORCH_NAMES):
            deep = 4 if parts[1] == "backends" else 3
            self.tally.add("torch.name", ".".join(parts[:deep]), offset)
        elif _CUDA_PART.search(name):
            self.tally.add("torch.name", ".".join(parts[:6]), offset)

    def _triton(self, name: str, offset: int) -> None:
        leaf = name.rpartition(".")[2]
        if name in ("triton.jit", "triton.experimental.gluon.jit"):
            self.tally.add("triton.kernel", "jit", offset)
        elif leaf == "inline_asm_elementwise":
            self.tally.add("triton.feature", "inline_asm_elementwise", offset)
        elif ".gluon" in name and ".nvidia" in name:
            self.tally.add("triton.feature", "gluon nvidia", offset)
        elif ".extra.cuda" in name:
            self.tally.add("triton.feature", "libdevice", offset)
        elif leaf in (
            "make_tensor_descriptor",
            "_experimental_make_tensor_descriptor",
            "TensorDescriptor",
            "_experimental_descriptor_load",
            "load_tensor_descriptor",
        ):
            self.tally.add("triton.feature", "tma", offset)

    def keyword(self, name: str, value: object, offset: int) -> None:
        """Count a keyword argument that only NVIDIA's cards give a meaning."""
        if name == "num_ctas" and isinstance(value, int) and value > 1:
            self.tally.add("triton.feature", "num_ctas", offset)
        elif name == "num_warps" and isinstance(value, int) and value > 16 and "triton" in self.imported:
            self.tally.add("triton.feature", "num_warps", offset)
        elif name == "warp_specialize" and value is True:
            self.tally.add("triton.feature", "warp_specialize", offset)

    def method(self, name: str, offset: int) -> None:
        """Count `.cuda()` and `.is_cuda` of something that is no module."""
        self.tally.add("torch.device", f".{name}", offset)

    def string(self, text: str, offset: int, *, argument: bool = True, raw: bytes = b"") -> None:
        """Count what a string names; `argument` says that it is used as a value, not shown to a person."""
        if len(text) > 400 or "\n" in text.strip():
            if raw and len(raw) <= _LONGEST_SOURCE and _SOURCE.search(raw):
                self.sources.append((offset, raw))
            return
        if not _CANDIDATE.search(text):
            return
        if _DEVICE.fullmatch(text):
            self.tally.add("python.device", "cuda", offset, (("framework", self._framework()),))
        elif _BACKEND.fullmatch(text):
            self.tally.add("torch.distributed", "nccl", offset)
        elif _VARIABLE.fullmatch(text):
            if argument and variable(text) is not None:
                self.variable(text, offset)
        elif _PROVIDER.fullmatch(text):
            self.tally.add("python.provider", text, offset)
        elif found := _OPTION.fullmatch(text):
            self.tally.add("python.option", found[0] if found[0].startswith("flash") else "flash_attention_2", offset)
        elif found := _LIBRARY.fullmatch(text.rpartition("/")[2]):
            self.tally.add("python.library", f"lib{found[1]}", offset, (("file", text),))
        elif argument and (found := _COMMAND.fullmatch(text)) and (text.strip() not in _BARE):
            self._command(found[1], text.split()[1:], offset)
        elif argument and (found := _TOOLKIT.search(text)):
            self.tally.add("python.path", "/usr/local/cuda", offset, (("path", found[0]),))
        elif raw and _SOURCE.search(raw):
            self.sources.append((offset, raw))

    def variable(self, name: str, offset: int) -> None:
        """Count a variable of the environment, if it is CUDA's."""
        if _VARIABLE.fullmatch(name):
            self.tally.add("env", name, offset)

    def command(self, words: list[str], offset: int) -> bool:
        """Count a command given as a list of words; tell whether it is one of NVIDIA's."""
        tool = words[0].rpartition("/")[2] if words else ""
        if _COMMAND.fullmatch(tool) is None or " " in tool:
            return False
        self._command(tool, words[1:], offset)
        return True

    def _command(self, tool: str, arguments: list[str], offset: int) -> None:
        text = " ".join(arguments)[:200]
        details = (("where", "program"), *((("arguments", text),) if text else ()))
        self.tally.add(f"command.{tool}", tool, offset, details)

    def _framework(self) -> str:
        return next((name for name in _FRAMEWORKS if name in self.imported), "other")


def embedded(source: bytes) -> bool:
    """Tell whether a string holds CUDA C++."""
    return _SOURCE.search(source) is not None
