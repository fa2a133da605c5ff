"""Moving a graph and its example inputs from `cuda` to the CPU, where Inductor's C++ code generator takes them.

What the graph says of devices is changed and nothing else: results are put back by `calls.py` as this module's Plan says.
"""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import torch
from torch import fx
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.node import map_aggregate
from torch.utils import _pytree as pytree

from anywarp.frameworks.torch.compile import attention, islands

CPU = torch.device("cpu")
HOST = -1

aten = torch.ops.aten
COPIES = {aten._to_copy.default, torch.ops.prims.device_put.default, aten.to.device, aten.to.dtype_layout}
"""Operators that copy between devices; on one device they may do nothing."""

KEPT_META = ("val", "example_value", "eager_input_vals")


class Unsupported(RuntimeError):
    """Raised for a graph that cannot be compiled for the CPU, with the reason."""


@dataclass(frozen=True)
class Plan:
    """How a compiled function is called: which inputs are tensors, and where each result belongs.

    `outputs` has a device number per result, HOST for a tensor of the CPU, None for what is no tensor.
    """

    device: int
    inputs: tuple[int, ...]
    input_count: int
    outputs: tuple[int | None, ...]
    keep: bool
    islands: tuple[tuple[str, str, str], ...]


@dataclass
class _Move:
    """The state of one move: values already moved, by identity, and the names of islands used."""

    fakes: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    graphs: set[int] = field(default_factory=set)
    islands: set[str] = field(default_factory=set)
    keep: bool = False

    def value(self, value: Any) -> Any:
        """Return a value for the CPU: tensors (fake or real), devices and what holds them."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, torch.device):
            return CPU if value.type == "cuda" else value
        return value

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != "cuda":
            return tensor
        known = self.fakes.get(id(tensor))
        if known is None:
            known = (
                tensor,
                _fake_on_cpu(tensor)
                if isinstance(tensor, FakeTensor)
                else torch.ops.anywarp.cpu_alias(tensor.detach()),
            )
            self.fakes[id(tensor)] = known
        return known[1]


def _fake_on_cpu(fake: FakeTensor) -> torch.Tensor:
    if fake.layout is not torch.strided:
        raise Unsupported(f"a graph with a tensor of layout {fake.layout} cannot be compiled")
    with fake.fake_mode:
        moved = torch.empty_strided(fake.size(), fake.stride(), dtype=fake.dtype, device=CPU)
    for name in ("_is_inductor_static", "_dynamo_static_input_type"):
        if hasattr(fake, name):
            setattr(moved, name, getattr(fake, name))
    return moved


def uses_cuda(gm: Any, inputs: Sequence[Any]) -> bool:
    """Tell whether any value of a graph lies on a CUDA device."""
    if any(islands.device_of(each) for each in inputs):
        return True
    for node in gm.graph.nodes:
        leaves = pytree.tree_leaves((node.meta.get("val"), node.args, node.kwargs))
        if any(islands.device_of(each) for each in leaves if not isinstance(each, fx.Node)):
            return True
    return False


def calls_triton(gm: Any) -> bool:
    """Tell whether a graph calls kernels that the program wrote in Triton itself, which only code on a device can."""
    return any(
        isinstance(node.target, HigherOrderOperator) and node.target.name().startswith("triton_kernel_wrapper")
        for part in gm.modules()
        if isinstance(part, fx.GraphModule)
        for node in part.graph.nodes
    )


def move(gm: Any, inputs: Sequence[Any]) -> tuple[list[Any], Plan]:
    """Move `gm`, in place, to the CPU; return its example inputs for there and how to call what is compiled from it.

    Unsupported when the graph holds a tensor of a layout that cannot be compiled.
    """
    output = next(iter(reversed(gm.graph.nodes)))
    outputs = tuple(_place(each) for each in output.args[0])
    state = _Move()
    indices = _cuda_indices(gm, inputs)
    _detach_constants(gm, output)
    _move_graph(gm, state)
    attention.write_out(gm)
    moved = [state.value(each) for each in inputs]
    tensors = tuple(i for i, each in enumerate(inputs) if isinstance(each, torch.Tensor))
    device = indices[0] if indices else torch.cuda.current_device()
    return moved, Plan(device, tensors, len(inputs), outputs, state.keep, tuple(islands.described(state.islands)))


def _place(result: Any) -> int | None:
    value = result.meta.get("val") if isinstance(result, fx.Node) else result
    if not isinstance(value, torch.Tensor):
        return None
    device = islands.device_of(value)
    return HOST if device is None else islands.index_of(device)


def _cuda_indices(gm: Any, inputs: Sequence[Any]) -> list[int]:
    values = [*inputs, *(pytree.tree_leaves([(n.meta.get("val"), n.kwargs.get("device")) for n in gm.graph.nodes]))]
    return [islands.index_of(device) for device in map(islands.device_of, values) if device is not None]


def _detach_constants(gm: Any, output: Any) -> None:
    """Copy constants that are results: what is returned becomes the caller's."""
    for result in set(output.all_input_nodes):
        if result.op == "get_attr" and isinstance(result.meta.get("val"), torch.Tensor):
            with gm.graph.inserting_before(output):
                copy = gm.graph.call_function(aten.clone.default, (result,))
            copy.meta["val"] = result.meta["val"]
            output.replace_input_with(result, copy)


def _move_graph(gm: Any, state: _Move) -> None:
    if id(gm) in state.graphs:
        return
    state.graphs.add(id(gm))
    for node in list(gm.graph.nodes):
        _MOVES.get(node.op, _leave)(gm, node, state)
    for node in gm.graph.nodes:
        for key in KEPT_META:
            if key in node.meta:
                node.meta[key] = pytree.tree_map(state.value, node.meta[key])
    gm.recompile()


def _leave(gm: Any, node: Any, state: _Move) -> None:
    """Placeholders and outputs: only their values' descriptions change."""


def _move_attribute(gm: Any, node: Any, state: _Move) -> None:
    owner, _, name = node.target.rpartition(".")
    holder = attrgetter(owner)(gm) if owner else gm
    value = getattr(holder, name)
    if isinstance(value, fx.GraphModule):
        _move_graph(value, state)
    elif isinstance(value, torch.Tensor) and value.device.type == "cuda":
        frozen = getattr(value, "_is_frozen_param", False)
        alias = state.value(value)
        if frozen:
            alias._is_frozen_param = True
        if name in holder._parameters:
            alias = torch.nn.Parameter(alias, requires_grad=False)
        setattr(holder, name, alias)


def _move_call(gm: Any, node: Any, state: _Move) -> None:
    target = node.target
    if isinstance(target, HigherOrderOperator):
        _move_higher_order(node, state)
    elif isinstance(target, OpOverload):
        state.keep |= target.name().startswith("inductor::resize_storage_bytes_")
        if _island_for(node, target, node.args, node.kwargs, state):
            return
        if target in COPIES and _crosses(node):
            _copy_on_cpu(node)
    node.args = map_aggregate(node.args, state.value)
    node.kwargs = {key: _named_device(key, value, state) for key, value in node.kwargs.items()}


def _named_device(key: str, value: Any, state: _Move) -> Any:
    if key == "device" and isinstance(value, str):
        value = torch.device(value)
    return map_aggregate(value, state.value)


def _island_for(node: Any, op: OpOverload, args: Any, kwargs: Any, state: _Move) -> bool:
    """Replace a call that needs device tensors by one of its island."""
    values = islands.arguments_of(op, *_values((tuple(args), dict(kwargs))))
    if not _touches_cuda(node, values) or not islands.needed(op):
        return False
    made = islands.island(op, islands.pattern(op, values))
    state.islands.add(made._schema.name.partition("::")[2])
    if node.target is op:
        node.target = made
    else:  # an operator inside a higher-order one
        node.args = tuple(made if each is op else each for each in node.args)
    node.args = map_aggregate(node.args, state.value)
    node.kwargs = {key: _named_device(key, value, state) for key, value in node.kwargs.items()}
    return True


def _values(arguments: Any) -> Any:
    return map_aggregate(arguments, lambda each: each.meta.get("val") if isinstance(each, fx.Node) else each)


def _touches_cuda(node: Any, values: list[Any]) -> bool:
    return any(islands.device_of(each) for each in pytree.tree_leaves((node.meta.get("val"), values)))


def _crosses(node: Any) -> bool:
    source, result = node.args[0].meta.get("val"), node.meta.get("val")
    return isinstance(source, torch.Tensor) and isinstance(result, torch.Tensor) and source.device != result.device


def _copy_on_cpu(node: Any) -> None:
    """Make a copy between devices one on the CPU, which is no copy of nothing: the result is another tensor."""
    source, result = node.args[0], node.meta["val"]
    form = node.kwargs.get("memory_format")
    kept = {} if form is None else {"memory_format": form}
    if source.meta["val"].dtype == result.dtype:
        node.target, node.kwargs = aten.clone.default, kept
    else:
        node.target, node.kwargs = aten._to_copy.default, {"dtype": result.dtype, **kept}
    node.args = (source,)


def _move_higher_order(node: Any, state: _Move) -> None:
    for op in node.args:
        if isinstance(op, OpOverload):  # auto_functionalized and its like: the operator, then its arguments
            _island_for(node, op, *_inner_arguments(node, op), state)


def _inner_arguments(node: Any, op: OpOverload) -> tuple[Any, Any]:
    """Return the arguments of the operator inside a higher-order call, as far as they are given by name."""
    bases = node.kwargs.get("_all_bases", ())
    named = {}
    for declared in op._schema.arguments:
        if declared.name in node.kwargs:
            named[declared.name] = node.kwargs[declared.name]
        elif (index := node.kwargs.get(f"_{declared.name}_base_index")) is not None:
            named[declared.name] = bases[index]
        elif (count := node.kwargs.get(f"_{declared.name}_length")) is not None:
            named[declared.name] = [bases[node.kwargs[f"_{declared.name}_{i}_base_index"]] for i in range(count)]
    rest = node.args[node.args.index(op) + 1 :]
    return (rest, named) if not named else ((), named)


_MOVES: dict[str, Callable[[Any, Any, _Move], None]] = {
    "get_attr": _move_attribute,
    "call_function": _move_call,
}
