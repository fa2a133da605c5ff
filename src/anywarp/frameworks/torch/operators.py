"""What PyTorch's own list of operators says of CUDA: which have kernels there, and which of those check devices themselves.

The list (native_functions.yaml) comes with torch, so that the page of what is served and the table of the native code are
made from it and not by hand:

    python -m anywarp.frameworks.torch.operators checks > native/torch/device_checks_table.h
    python -m anywarp.frameworks.torch.operators only-cpu > native/torch/only_for_cpu_table.h
    python -m anywarp.frameworks.torch.operators coverage > docs/coverage/torch.md
"""

# pyright: basic
from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEYS = ("CUDA", "SparseCUDA", "SparseCsrCUDA", "QuantizedCUDA", "NestedTensorCUDA")
"""The dispatch keys of CUDA's kernels: dense, sparse, compressed sparse, quantised and nested tensors."""

COMPOSITE = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional")

REASONS = {
    "miopen": "an operator of AMD's library, which CUDA builds refuse too",
    "_cudnn_rnn": "cuDNN's recurrent layers; nn.LSTM, nn.GRU and nn.RNN take the native cells, which are served",
    "_cudnn_init_dropout_state": "cuDNN's recurrent layers; nn.LSTM, nn.GRU and nn.RNN take the native cells, which are served",
    "_cudnn_ctc_loss": "cuDNN's loss; ctc_loss takes the native one, which is served",
    "_cslt": "the packed format is cuSPARSELt's own and not public",
    "_sparse_semi_structured": "2:4 sparsity in the layout of CUTLASS is not served yet",
    "_to_sparse_semi_structured": "2:4 sparsity in the layout of CUTLASS is not served yet",
    "_mixed_dtypes_linear": "weights in the layout of CUTLASS are not served yet",
    "_scaled_grouped_mm_v2": "MX and NVFP4 scales are not served yet",
    "_triton": "a kernel written in Triton inside torch, of which CPU builds have no copy",
    "_flash_attention_forward.quantized": "attention over 8-bit floats is not served yet",
    "_scaled_dot_product_flash_attention.quantized": "attention over 8-bit floats is not served yet",
    "_philox_": "keyed random numbers are not served yet",
    "_spsolve": "a direct sparse solver (cuDSS) for which the CPU has no kernel",
    "_scaled_dot_product": "only for strided nested tensors, which take the written-out attention instead",
    "baddbmm.out": "only for batches of compressed sparse matrices, for which the CPU has no kernel",
    "bmm.out": "only for batches of compressed sparse matrices, for which the CPU has no kernel",
    "_cudnn_attention": "nested tensors take the flash or the memory-efficient kernel, which are served",
    "cudnn_affine_grid_generator_backward": "affine_grid takes the native operator, which is served",
    "cudnn_batch_norm.out": "batch_norm takes the native operator, which is served",
}
"""Why an operator is refused, by how its name begins."""


@dataclass(frozen=True)
class Operator:
    """One entry of the list: its name with overload, the keys it has kernels for, and whether those check devices."""

    name: str
    keys: frozenset[str]
    checked: bool
    structured: bool
    fills: bool
    """Whether it writes into `out` arguments."""

    @property
    def wrapper(self) -> str:
        """Return the name that torch's generated code gives the wrapper of the CUDA kernel, which its errors mention."""
        base, _, overload = self.name.partition(".")
        called = f"{base}_out" if self.fills else base
        return f"wrapper_CUDA_{called}" if self.structured else f"wrapper_CUDA_{overload}_{called}"


def entries(path: Path | None = None) -> list[Operator]:
    """Return the operators of native_functions.yaml, those without kernels of their own with the keys of their delegate.

    ModuleNotFoundError without torch or PyYAML.
    """
    import yaml

    source = path or listed()
    raw: list[dict[str, Any]] = yaml.safe_load(source.read_text(encoding="utf-8"))
    by_name = {_name(each): each for each in raw}
    found: list[Operator] = []
    for each in raw:
        delegate = by_name.get(str(each.get("structured_delegate")), each)
        keys = {key.strip() for names in delegate.get("dispatch") or {} for key in names.split(",")}
        structured = bool(each.get("structured") or each.get("structured_delegate"))
        checked = each.get("device_check", "ExactSame") != "NoCheck" and "CUDA" in keys
        fills = re.search(r"\*,.*\(a!\)", str(each["func"])) is not None
        found.append(Operator(_name(each), frozenset(keys), checked, structured, fills))
    return found


def listed() -> Path:
    """Return where the installed torch keeps its list."""
    spec = importlib.util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("torchgen, which comes with torch, is not installed")
    return Path(spec.origin).parent / "packaged/ATen/native/native_functions.yaml"


def _name(entry: dict[str, Any]) -> str:
    return str(entry["func"]).split("(", 1)[0]


def checks(operators: list[Operator]) -> str:
    """Return the table of the native code: operators that check devices themselves, and their wrappers' names."""
    rows = sorted((each.name, each.wrapper) for each in operators if each.checked)
    lines = [f'{{"{name}", "{wrapper}"}},' for name, wrapper in rows]
    head = "// Made by `python -m anywarp.frameworks.torch.operators checks` from torch's native_functions.yaml."
    return "\n".join(["// clang-format off", head, *lines]) + "\n"


def only_for_cpu(operators: list[Operator]) -> str:
    """Return the table of the native code: operators that have a kernel for the CPU and none for CUDA, composite ones included."""
    names = sorted(
        each.name
        for each in operators
        if "CPU" in each.keys and "CUDA" not in each.keys and not each.keys & set(COMPOSITE)
    )
    head = "// Made by `python -m anywarp.frameworks.torch.operators only-cpu` from torch's native_functions.yaml."
    return "\n".join(["// clang-format off", head, *(f'{{"{name}", ""}},' for name in names)]) + "\n"


def served(name: str, key: str) -> str:
    """Return how the running library serves an operator under a key: own, counterpart, cpu, composite; "" when it does not.

    torch must have been imported under the stand-in.
    """
    import torch

    has = torch._C._dispatch_has_kernel_for_dispatch_key
    full = f"aten::{name}"
    cpu = key.replace("CUDA", "CPU")
    if key == "CUDA" and has(full, "FPGA"):
        return "counterpart"
    if has(full, key) and has(full, cpu):
        return "cpu"
    if any(has(full, each) for each in COMPOSITE):
        return "composite"
    return "own" if has(full, key) else ""


def reason(name: str) -> str:
    """Return why an operator is refused; "" when nobody has written it down, which a test does not accept."""
    found = [begin for begin in REASONS if name.startswith(begin)]
    return REASONS[max(found, key=len)] if found else ""


def coverage(operators: list[Operator], version: str) -> str:
    """Return the page: counts, what is refused and why, and one line for every operator with a kernel on CUDA."""
    rows: list[str] = []
    refused: list[str] = []
    counts: dict[str, int] = dict.fromkeys(("cpu", "counterpart", "own", "composite", "refused"), 0)
    for each in sorted(operators, key=lambda each: each.name):
        cells = [(served(each.name, key) or "refused") if key in each.keys else "" for key in KEYS]
        if not any(cells):
            continue
        for cell in filter(None, cells):
            counts[cell] += 1
        if "refused" in cells:
            refused.append(f"| `{each.name}` | {reason(each.name)} |")
        rows.append(f"| `{each.name}` | {' | '.join(cells)} |")
    total = sum(counts.values())
    head = [
        "# Operators of PyTorch with a CUDA kernel",
        "",
        f"Made from the list of torch {version} and the running library by `python -m anywarp.frameworks.torch.operators coverage`.",
        f"{total} kernels: {counts['cpu']} by the CPU's kernel, {counts['counterpart']} by one of ours over CPU tensors (counterpart),",
        f"{counts['own']} by one of ours alone (own), {counts['composite']} made of other operators, {counts['refused']} refused by name.",
        "",
        "## Refused",
        "",
        "| operator | why |",
        "| --- | --- |",
        *refused,
        "",
        "## All",
        "",
        "| operator | dense | sparse | compressed sparse | quantised | nested |",
        "| --- | --- | --- | --- | --- | --- |",
        *rows,
    ]
    return "\n".join(head) + "\n"


def main() -> None:
    """Print what the one argument names: `checks`, `only-cpu` or `coverage`."""
    wanted = sys.argv[1:]
    if wanted == ["checks"]:
        sys.stdout.write(checks(entries()))
    elif wanted == ["only-cpu"]:
        sys.stdout.write(only_for_cpu(entries()))
    elif wanted == ["coverage"]:
        from anywarp.frameworks.torch import hook

        hook.install()
        import torch

        sys.stdout.write(coverage(entries(), torch.__version__.partition("+")[0]))
    else:
        sys.exit("usage: python -m anywarp.frameworks.torch.operators checks|only-cpu|coverage")


if __name__ == "__main__":
    main()
