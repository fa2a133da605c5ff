"""From a module to ONNX: PyTorch's own exporter, its complaints said with the place in the model."""

# pyright: basic
from __future__ import annotations

import contextlib
import io
import logging
import re
import warnings
from pathlib import Path
from typing import Any

from anywarp.frameworks.export.inputs import Array, Request
from anywarp.frameworks.export.problems import CONVERSION, INPUTS, problem

MARGIN = 1 << 28
"""Bytes below 2 GiB (what protobuf holds) beyond which weights go into a file beside the model."""


def as_tensors(arrays: dict[str, Array]) -> dict[str, Any]:
    """Return the arrays as tensors of PyTorch."""
    import torch

    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def check_names(model: Any, request: Request) -> None:
    """Raise AnywarpError (F014) unless each input is a parameter of forward, and each parameter that needs one has an input."""
    import inspect

    parameters = inspect.signature(model.forward).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return
    known = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    given = [each.name for each in request.inputs]
    needed = [each.name for each in parameters if each.name in known and each.default is each.empty]
    if wrong := [name for name in given if name not in known]:
        raise problem(INPUTS, f"forward has no parameter {wrong[0]}; it has {', '.join(known)}")
    if lacking := [name for name in needed if name not in given]:
        raise problem(INPUTS, f"forward needs {', '.join(lacking)}, too", "give an --input for each")


def positional(program: Any, request: Request) -> tuple[str, ...]:
    """Return the names of the inputs that an exported program takes by their place; AnywarpError (F014) where it takes others than the request's."""
    names = list(program.graph_signature.user_inputs)
    args, kwargs = program.example_inputs or ((), {})
    given = sorted(each.name for each in request.inputs)
    if given != sorted(names) or len(args) + len(kwargs) != len(names):
        text = f"the program takes {', '.join(map(str, names)) or 'nothing'}, and was given {', '.join(given)}"
        raise problem(INPUTS, text, "give an --input for each; inputs within lists and dictionaries are not served")
    return tuple(names[: len(args)])


def trace(model: Any, request: Request, arrays: dict[str, Array]) -> Any:
    """Return the ExportedProgram of a module, with the named axes varying; AnywarpError (F015)."""
    import torch

    axes = {name: torch.export.Dim(name, min=1) for name in request.axes}
    shapes = {
        each.name: {number: axes[dim] for number, dim in enumerate(each.dims) if isinstance(dim, str)}
        for each in request.inputs
    }
    try:
        with quiet():
            return torch.export.export(model, (), as_tensors(arrays), dynamic_shapes=shapes)
    except Exception as error:
        raise problem(CONVERSION, f"the model cannot be traced: {_first_words(error)}", _help(error)) from error


def output_names(result: Any) -> list[str] | None:
    """Return the keys of a result that is a dictionary, or has fields, of tensors; None for any other."""
    from torch.utils import _pytree

    paths = [
        [getattr(key, "key", getattr(key, "name", None)) for key in path]
        for path, _ in _pytree.tree_flatten_with_path(result)[0]
    ]
    names = [path[0] for path in paths if len(path) == 1 and isinstance(path[0], str)]
    return names if names and len(names) == len(paths) else None


def _first_words(error: BaseException) -> str:
    """Return what PyTorch says, without its advice for its own developers; and the line of the model, where it names one."""
    text = str(error).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = (
        re.sub(r"For more information, run with \S+|\(unhinted: .*?\)", "", " ".join(lines[:2]))[:400]
        if lines
        else type(error).__name__
    )
    places = re.findall(r'File "([^"]+)", line (\d+), in (\w+)', text)
    own = [place for place in places if "/torch/" not in place[0]]
    return f"{said} (in {own[-1][0]}, line {own[-1][1]})" if own else said


def _help(error: BaseException) -> str:
    if "specialized it to be a constant" in str(error):
        return "the model fixes the size of an axis that is to vary: give that size as a number, or change the line that fixes it"
    return "a model whose Python branches on values cannot be traced: torch.cond or torch.where say the same in tensors"


def convert(program: Any, path: Path, request: Request, outputs: list[str] | None) -> None:
    """Write an ExportedProgram as ONNX, axes named as in the request; `outputs` are names for its outputs, None for the exporter's own.

    AnywarpError (F015) naming an operator and where it stands.
    """
    import torch

    try:
        with quiet():
            made = torch.onnx.export(program, dynamo=True, verbose=False, output_names=outputs)
    except Exception as error:
        raise problem(CONVERSION, *_unconverted(error, program)) from error
    assert made is not None
    made.rename_axes(_axes_of(made, request))
    size = sum(each.numel() * each.element_size() for each in program.state_dict.values())
    made.save(path, external_data=size > (1 << 31) - MARGIN)


def _axes_of(made: Any, request: Request) -> dict[str, str]:
    """Return the request's name for each of the exporter's names of an axis."""
    dims = {each.name: each.dims for each in request.inputs}
    return {
        size.value: dim
        for each in made.model.graph.inputs
        for dim, size in zip(dims.get(each.name, ()), each.shape)
        if isinstance(dim, str) and isinstance(getattr(size, "value", None), str)
    }


def _unconverted(error: BaseException, program: Any) -> tuple[str, str]:
    """Return text and help: the operator that has no counterpart, and every place where the model uses it."""
    chain: list[str] = []
    each: BaseException | None = error
    while each is not None:
        chain.append(str(each))
        each = each.__cause__
    found = next((match for text in reversed(chain) if (match := re.search(r"op='([\w.]+)'", text))), None)
    if found is None:
        return f"PyTorch's exporter fails: {_plain(chain[-1])[:600]}", ""
    places = [_place(node) for node in program.graph.nodes if str(node.target).startswith(f"{found[1]}.")]
    where = f", used in {'; '.join(places)}" if places else ""
    help = "replace it by operators that ONNX has, or register a translation with PyTorch's exporter (custom_translation_table)"
    return f"there is no counterpart in ONNX for the operator {found[1]}{where}", help


def _place(node: Any) -> str:
    modules = list((node.meta.get("nn_module_stack") or {}).values())
    frames = re.findall(r'File "([^"]+)", line (\d+), in (\w+)', node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if "/torch/nn/" not in frame[0]] or frames
    path, kind = modules[-1] if modules else ("", "")
    text = f"{path or 'the model'} ({kind if isinstance(kind, str) else kind.__qualname__})"
    return f"{text}, {own[-1][0]}, line {own[-1][1]}" if own else text


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[\d+m", "", text).strip()


@contextlib.contextmanager
def quiet() -> Any:
    """Keep PyTorch's progress and advice away from the user's terminal."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
