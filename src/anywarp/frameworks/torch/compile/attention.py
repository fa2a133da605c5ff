"""FlexAttention in a graph for the CPU: its template there serves inference only, the rest is written out as dense attention.

The dense form is the operator's own definition, the one that runs without torch.compile.
"""

# pyright: basic
from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import nullcontext
from operator import getitem
from typing import Any

import torch
from torch import fx
from torch._dispatch.python import enable_python_dispatcher
from torch._guards import detect_fake_mode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree


def write_out(gm: Any) -> None:
    """Make every FlexAttention of a moved graph one that the CPU's template takes, or dense operators; in place."""
    try:
        flex: Any = importlib.import_module(
            "torch._higher_order_ops.flex_attention"
        )  # its package has an operator of that name
    except ImportError:  # before torch 2.5
        return
    dense: dict[Any, Callable[..., Any]] = {
        flex.flex_attention: flex.sdpa_dense,
        flex.flex_attention_backward: flex.sdpa_dense_backward,
    }
    for node in list(gm.graph.nodes):
        if node.target not in dense:
            continue
        if node.target is flex.flex_attention and _only_output_used(node):
            args = list(node.args)
            args[6] = {**args[6], "OUTPUT_LOGSUMEXP": False, "OUTPUT_MAX": False}
            node.args = tuple(args)
        else:
            _splice(gm, node, dense[node.target])
    gm.graph.eliminate_dead_code()
    gm.recompile()


def _only_output_used(node: Any) -> bool:
    used = {user.args[1] for user in node.users if user.target is getitem and user.users}
    return used <= {0}


def _splice(gm: Any, node: Any, function: Callable[..., Any]) -> None:
    """Replace a call by the operators that `function` makes of its arguments."""
    leaves, spec = pytree.tree_flatten((node.args, dict(node.kwargs)))
    graphs = {i: getattr(gm, each.target) for i, each in enumerate(leaves) if _is_graph(gm, each)}
    given = [i for i, each in enumerate(leaves) if isinstance(each, fx.Node) and i not in graphs]

    def call(*values: Any) -> Any:
        filled = [graphs.get(i, each) for i, each in enumerate(leaves)]
        for i, value in zip(given, values, strict=True):
            filled[i] = value
        args, kwargs = pytree.tree_unflatten(filled, spec)
        return function(*args, **kwargs)

    values = [leaves[i].meta["val"] for i in given]
    mode = detect_fake_mode(values)
    with mode or nullcontext(), enable_python_dispatcher(), torch.no_grad():
        traced = make_fx(call, decomposition_table=_decompositions())(*values)
    places = dict(
        zip((n for n in traced.graph.nodes if n.op == "placeholder"), (leaves[i] for i in given), strict=True)
    )
    for held in traced.graph.find_nodes(op="get_attr"):
        name = f"_flex_{node.name}_{held.target}"
        setattr(gm, name, getattr(traced, held.target))
        held.target = name
    with gm.graph.inserting_before(node):
        results = gm.graph.graph_copy(traced.graph, places)
    _replace(node, results)


def _is_graph(gm: Any, value: Any) -> bool:
    return (
        isinstance(value, fx.Node)
        and value.op == "get_attr"
        and isinstance(getattr(gm, str(value.target), None), torch.nn.Module)
    )


def _decompositions() -> Any:
    from torch._inductor.decomposition import select_decomp_table

    return select_decomp_table()


def _replace(node: Any, results: Any) -> None:
    """Give the users of the parts of `node` the new parts."""
    for user in list(node.users):
        part = results[user.args[1]]
        if isinstance(part, fx.Node):
            user.replace_all_uses_with(part)
        else:  # a tuple of gradients: its own parts are taken
            for inner in list(user.users):
                if part[inner.args[1]] is not None:
                    inner.replace_all_uses_with(part[inner.args[1]])
