"""Export a model and hold it against PyTorch: at the sizes of the samples, and at others of every axis that varies."""

# pyright: basic
from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from anywarp.frameworks.export import converting, inputs, judging, loading
from anywarp.frameworks.export.problems import CONVERSION, INPUTS, problem
from anywarp.numerics import bounds

SEED = 0


@dataclass(frozen=True)
class Case:
    """One choice of sizes and what came of each output; `failed` is why nothing could be compared."""

    sizes: Mapping[str, int]
    verdicts: tuple[judging.Verdict, ...]
    failed: str = ""

    @property
    def right(self) -> bool:
        """Whether all outputs are."""
        return not self.failed and all(each.right for each in self.verdicts)


@dataclass(frozen=True)
class Result:
    """All cases, the lengths of the sums at the samples' sizes, and where the model was written, if it was."""

    cases: tuple[Case, ...]
    sums: int
    written: Path | None

    @property
    def right(self) -> bool:
        """Whether all cases are."""
        return all(each.right for each in self.cases)

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping; what is not a number is null."""
        return {
            "right": self.right,
            "written": None if self.written is None else str(self.written),
            "sums": self.sums,
            "cases": [
                {"sizes": dict(case.sizes), "right": case.right, "failed": case.failed or None, "outputs": [_as_json(each) for each in case.verdicts]}
                for case in self.cases
            ],
        }  # fmt: skip


def _as_json(verdict: judging.Verdict) -> dict[str, Any]:
    said = asdict(verdict) | {"right": verdict.right}
    return said | {"error": verdict.error if np.isfinite(verdict.error) else None}


def export(
    model: str,
    request: inputs.Request,
    output: Path,
    weights: Path | None,
    wanted: Iterable[Mapping[str, int]],
    anyway: bool,
) -> Result:
    """Export a model; write it to `output` if it computes what PyTorch does, or `anyway`. AnywarpError: F012 to F015."""
    loading.require_packages()
    wanted = tuple(wanted)
    _check_axes(request, wanted)
    _check_place(output)
    loaded = loading.load(model, weights)
    arrays = inputs.samples(request, request.axes, SEED)
    if hasattr(loaded, "graph_signature"):
        program, module, places = loaded, loaded.module(), converting.positional(loaded, request)
    else:
        converting.check_names(loaded, request)
        program, module = converting.trace(loaded, request, arrays), loaded
        places = ()
    with tempfile.TemporaryDirectory(prefix=f".{output.name[:100]}-", dir=output.parent) as folder:
        traced = program.module()
        names = converting.output_names(run(traced, arrays, places))
        path = Path(folder) / output.name
        converting.convert(program, path, request, names)
        sums = judging.sums_of(lambda: run(traced, arrays, places))
        comparison = _Comparison(module, places, path, request, sums)
        cases = tuple(comparison.at(sizes) for sizes in inputs.other_sizes(request, wanted))
        right = all(case.right for case in cases)
        if right or anyway:
            for each in sorted(Path(folder).iterdir(), reverse=True):  # weights beside the model come first
                os.replace(each, output.parent / each.name)
    return Result(cases, sums, output if right or anyway else None)


def _check_axes(request: inputs.Request, wanted: Iterable[Mapping[str, int]]) -> None:
    for name in {name for each in wanted for name in each}:
        if name not in request.axes:
            raise problem(INPUTS, f"no input has an axis {name}", f"axes are {', '.join(request.axes) or 'none'}")


def _check_place(output: Path) -> None:
    if not output.parent.is_dir() or output.is_dir() or not os.access(output.parent, os.W_OK):
        raise problem(CONVERSION, f"{output} cannot be written", "choose another place with -o")


def run(module: Any, arrays: dict[str, Any], places: tuple[str, ...]) -> Any:
    """Compute with PyTorch, without gradients; the inputs in `places` are given by place, others by name."""
    import torch

    with torch.no_grad():
        tensors = converting.as_tensors(arrays)
        return module(*[tensors.pop(name) for name in places], **tensors)


class _Comparison:
    """PyTorch's module, its copy in float64 where there can be one, and ONNX Runtime's session."""

    def __init__(self, module: Any, places: tuple[str, ...], path: Path, request: inputs.Request, sums: int):
        onnxruntime: Any = import_module("onnxruntime")
        self._module, self._places, self._request, self._sums = module, places, request, sums
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise problem(CONVERSION, f"ONNX Runtime does not take the model: {str(error)[:500]}") from error
        self._exact = _in_float64(module)
        floats = [
            str(each.dtype).removeprefix("torch.") for each in module.state_dict().values() if each.is_floating_point()
        ]
        self._rounding = max((bounds.roundoff(name) for name in floats if not name.startswith("float8")), default=0.0)

    def at(self, sizes: Mapping[str, int]) -> Case:
        """Compare at these sizes of the axes."""
        arrays = inputs.samples(self._request, sizes, SEED + 1)
        try:
            wanted = self._with_torch(self._module, arrays)
        except Exception as error:
            return Case(sizes, (), f"PyTorch: {_short(error)}")
        try:
            found = self._with_onnx(arrays)
        except Exception as error:
            return Case(sizes, (), f"ONNX Runtime: {_short(error)}")
        names = [each.name for each in self._session.get_outputs()]
        if len(found) != len(wanted):
            return Case(sizes, (), f"there are {len(found)} outputs, not {len(wanted)}")
        exact = self._exactly(arrays, len(wanted))
        judged = zip(names, found, wanted, exact)
        return Case(sizes, tuple(judging.judge(*each, self._sums, self._rounding) for each in judged))

    def _with_onnx(self, arrays: dict[str, Any]) -> list[Any]:
        known = {each.name for each in self._session.get_inputs()}
        return self._session.run(None, {name: array for name, array in arrays.items() if name in known})

    def _with_torch(self, module: Any, arrays: dict[str, Any]) -> list[Any]:
        import torch
        from torch.utils import _pytree

        leaves = _pytree.tree_leaves(run(module, arrays, self._places))
        tensors = [torch.as_tensor(leaf) for leaf in leaves if leaf is not None]
        return [(each.float() if each.dtype is torch.bfloat16 else each).numpy() for each in tensors]

    def _exactly(self, arrays: dict[str, Any], count: int) -> list[Any]:
        """Return the outputs in float64, None for each where the model cannot be computed in it."""
        if self._exact is None:
            return [None] * count
        wide = {name: array.astype(np.float64) if array.dtype.kind == "f" else array for name, array in arrays.items()}
        try:
            return [each.astype(np.float64) for each in self._with_torch(self._exact, wide)]
        except Exception:  # a model that names a type itself: the bound is then the formula's
            return [None] * count


def _in_float64(module: Any) -> Any:
    try:
        return copy.deepcopy(module).double()
    except Exception:  # as above
        return None


def _short(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
