"""Transformer Engine's layers (its documentation, `transformer_engine.pytorch`), over torch: norms, linear layers, and the two together.

Names of parameters are those of its state dicts. `Linear` and `LayerNormLinear` are divided among ranks (te_parallel.py); other layers over several cards, and
overlapped communication, are refused by name.
"""

# pyright: basic
from __future__ import annotations

import io
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from anywarp.frameworks.neighbours.answers import te_fp8, te_parallel

__all__ = ["GroupedLinear", "LayerNorm", "LayerNormLinear", "LayerNormMLP", "Linear", "RMSNorm"]

DEVIATION = 0.023
"""Of the normal numbers that weights begin with."""

_ONE_CARD = {
    "sequence_parallel": (False, None), "tp_size": (1,), "fuse_wgrad_accumulation": (False,), "ub_overlap_ag": (False,), "ub_overlap_rs": (False,),
    "ub_overlap_rs_dgrad": (False,), "ub_bulk_dgrad": (False,), "ub_bulk_wgrad": (False,), "delay_wgrad_compute": (False,), "symmetric_ar_type": (None,),
    "return_layernorm_output_gathered": (False,), "ub_name": None, "save_original_input": None, "get_rng_state_tracker": None, "rng_tracker_name": None,
    "name": None, "seq_length": None, "micro_batch_size": None, "set_parallel_mode": None, "parallel_mode": None,
}  # fmt: skip
"""Arguments about several cards or how work is laid out: the values that are served, None for any."""


def check_one_card(owner: str, given: dict[str, Any]) -> None:
    """Refuse values of arguments that are not served, and names that nobody knows."""
    group = given.pop("tp_group", None)
    if group is not None and torch.distributed.get_world_size(group) > 1:
        raise NotImplementedError(f"{owner}: tp_group of several ranks is not served by anywarp")
    for name, value in given.items():
        if name not in _ONE_CARD:
            raise TypeError(f"{owner}: unexpected argument {name!r}")
        served = _ONE_CARD[name]
        if served is not None and value not in served:
            raise NotImplementedError(f"{owner}: {name}={value!r} is not served by anywarp")


def normalise(x: Tensor, weight: Tensor, bias: Tensor | None, eps: float, kind: str, zero_centred: bool) -> Tensor:
    """Return the norm over the last dimension, computed in float32 or better, in the type of x."""
    exact = torch.promote_types(x.dtype, torch.float32)
    by = weight.to(exact) + 1 if zero_centred else weight.to(exact)
    shape = (x.shape[-1],)
    if kind == "RMSNorm":
        return functional.rms_norm(x.to(exact), shape, by, eps).to(x.dtype)
    if kind != "LayerNorm":
        raise AssertionError(f"Unsupported normalization type {kind!r}!")
    return functional.layer_norm(x.to(exact), shape, by, None if bias is None else bias.to(exact), eps).to(x.dtype)


class _Norm(nn.Module):
    kind = "RMSNorm"

    def __init__(
        self, normalized_shape=None, eps=1e-5, sequence_parallel=None, params_dtype=None, zero_centered_gamma=False, hidden_size=None, **more
    ):  # fmt: skip
        super().__init__()
        shape = hidden_size if normalized_shape is None else normalized_shape
        if shape is None:
            raise RuntimeError("neither normalized_shape nor hidden_size was given")
        device, dtype = more.pop("device", "cuda"), more.pop("dtype", None) or params_dtype
        if more:
            raise TypeError(f"{self.kind}: unexpected argument {next(iter(more))!r}")
        size = (shape,) if isinstance(shape, int) else tuple(shape)
        self.eps, self.zero_centered_gamma, self.normalized_shape = eps, zero_centered_gamma, size
        self.weight = nn.Parameter(torch.empty(size, device=device, dtype=dtype))
        if self.kind == "LayerNorm":
            self.bias = nn.Parameter(torch.empty(size, device=device, dtype=dtype))
        if sequence_parallel is not None:
            for each in self.parameters():  # gradients are of this rank's rows
                vars(each)["sequence_parallel"] = sequence_parallel
        self.reset_parameters()

    def reset_parameters(self, defer_init=None) -> None:
        """Set the weight to ones (zeros where it counts from one) and the bias to zeros."""
        with torch.no_grad():
            self.weight.fill_(0.0 if self.zero_centered_gamma else 1.0)
            if self.kind == "LayerNorm":
                self.bias.zero_()

    def forward(self, x: Tensor) -> Tensor:
        """Return the norm over the dimensions of the weight."""
        many = len(self.normalized_shape)
        bias = self.bias.flatten() if self.kind == "LayerNorm" else None
        flat = x.flatten(-many) if many > 1 else x
        return normalise(flat, self.weight.flatten(), bias, self.eps, self.kind, self.zero_centered_gamma).view(x.shape)


class LayerNorm(_Norm):
    """The layer norm."""

    kind = "LayerNorm"


class RMSNorm(_Norm):
    """The norm by the root of the mean square."""


class Layer(nn.Module):
    """What the layers with products share: their type, what is in 8 bits, and the extra state of that."""

    products: tuple[str, ...] = ("",)

    def __init__(self):
        super().__init__()
        self.quantisers = {
            f"{which}{name}": te_fp8.Quantiser(which == "slope")
            for name in self.products
            for which in ("x", "weight", "slope")
        }
        self._rounded: dict[str, Tensor] = {}

    def in_type(self, x: Tensor) -> Tensor:
        """Return x in the type of the computation: autocast's, or that of the parameters, which must be its own."""
        if torch.is_autocast_enabled("cuda"):
            return x.to(torch.get_autocast_dtype("cuda"))
        for name, each in self.named_parameters():
            if each.dtype != x.dtype:
                raise AssertionError(
                    "Data types for parameters must match when outside of autocasted region. "
                    f"Found input dtype: {x.dtype} and {name!r} dtype: {each.dtype}"
                )
        return x

    def product(
        self, x: Tensor, weight: Tensor, bias: Tensor | None, name: str = "", first: bool | None = None
    ) -> Tensor:
        """Return x @ weight.T + bias, in 8 bits where an autocast says so; `first` as `is_first_microbatch`."""
        weight = weight.to(x.dtype)
        bias = None if bias is None else bias.to(x.dtype)
        of_x, of_weight, of_slope = (self.quantisers[f"{which}{name}"] for which in ("x", "weight", "slope"))
        how = te_fp8.active()
        if how is None:
            if (recipe := te_fp8.calibrating()) is not None:
                of_x.note(x.detach().float().abs().max(), recipe, None)
                of_weight.note(weight.detach().float().abs().max(), recipe, None)
            return functional.linear(x, weight, bias)
        rows = x.reshape(-1, x.shape[-1])
        for each in (rows, weight):
            if each.shape[0] % 8 or each.shape[1] % 16:
                raise AssertionError(
                    "FP8 execution requires the product of all dimensions except the last to be divisible by 8 and the last "
                    f"dimension to be divisible by 16, but got tensor with dims={list(each.shape)}"
                )
        if first is False and name in self._rounded:
            low_weight = self._rounded[name]
        else:
            low_weight = of_weight(weight, *how)
            if first is not None:
                self._rounded[name] = low_weight
        out = te_fp8.Product.apply(rows, weight, of_x(rows, *how), low_weight, of_slope, how)
        out = out.view(*x.shape[:-1], weight.shape[0])
        return out if bias is None else out + bias

    def get_extra_state(self) -> Tensor:
        """Return scales and histories as bytes; empty where nothing was in 8 bits."""
        kept = {name: (each.scale, each.history) for name, each in self.quantisers.items() if each.history is not None}
        if not kept:
            return torch.empty(0, dtype=torch.uint8)
        file = io.BytesIO()
        torch.save(kept, file)
        return torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)

    def set_extra_state(self, state) -> None:
        """Take over scales and histories that `get_extra_state` gave; NotImplementedError for those that a card's kernels left."""
        if state is None or (isinstance(state, Tensor) and state.numel() == 0):
            return
        try:
            kept = torch.load(io.BytesIO(state.cpu().numpy().tobytes()), weights_only=True)
            pairs = [(self.quantisers[name], scale, history) for name, (scale, history) in kept.items()]
        except Exception as error:
            what = "a state of 8 bits that was not saved under anywarp is not served: leave `_extra_state` out of the checkpoint"
            raise NotImplementedError(what) from error
        for each, scale, history in pairs:
            each.scale, each.history = scale, history


def _empty(shape, device, dtype) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape, device=device, dtype=dtype))


class _Projection(Layer):
    """A weight and a bias, or this rank's part of them, whole or split along their first dimension into parameters with names."""

    division: te_parallel.Division

    def _divide(self, group, size, mode, sequence, tracker, tracker_name=None) -> None:
        self.division = te_parallel.Division(type(self).__name__, group, size, mode, sequence)
        self.parallel_mode, self.tp_size, self.sequence_parallel = mode, self.division.size, self.division.sequence
        self._stream = (tracker, tracker_name)

    def set_tensor_parallel_group(self, tp_group) -> None:
        """Say which ranks have the other parts, before the first forward pass."""
        self.division.group = tp_group

    def _make(self, in_features, out_features, bias, init_method, split, device, dtype) -> None:
        if self.parallel_mode == "column":
            out_features = self.division.share(out_features)
        elif self.parallel_mode == "row":
            in_features = self.division.share(in_features)
        self.in_features, self.out_features, self.use_bias = in_features, out_features, bias
        if split is None:
            sizes = {"": out_features}
        elif isinstance(split, dict):
            sizes = {f"{name.rstrip('_')}_": size for name, size in split.items()}
        else:
            if out_features % len(split):
                raise AssertionError(f"Weight and bias params cannot be split equally into {len(split)} parts")
            sizes = {f"{name.rstrip('_')}_": out_features // len(split) for name in split}
        if sum(sizes.values()) != out_features:
            raise ValueError(f"Trying to split weight buffer ({out_features=}) with split sizes {list(sizes.values())}")
        self.parts, self.init_method = tuple(sizes), init_method
        for name, size in sizes.items():
            self.register_parameter(f"{name}weight", _empty((size, in_features), device, dtype))
            self.register_parameter(f"{name}bias", _empty((size,), device, dtype) if bias else None)
            self.division.mark(getattr(self, f"{name}weight"), getattr(self, f"{name}bias"))

    def reset_parameters(self, defer_init=False) -> None:
        """Draw the weights and set the biases to zeros."""
        with torch.no_grad(), te_parallel.stream(*self._stream):
            for name in self.parts:
                weight = getattr(self, f"{name}weight")
                (self.init_method or (lambda each: nn.init.normal_(each, 0.0, DEVIATION)))(weight)
                if self.use_bias:
                    getattr(self, f"{name}bias").zero_()

    def _whole(self) -> tuple[Tensor, Tensor | None]:
        weights = [getattr(self, f"{name}weight") for name in self.parts]
        biases = [getattr(self, f"{name}bias") for name in self.parts] if self.use_bias else []
        weight = weights[0] if len(weights) == 1 else torch.cat(weights)
        return weight, (None if not biases else biases[0] if len(biases) == 1 else torch.cat(biases))

    def _project(self, x: Tensor, first: bool | None, fp8: tuple) -> Tensor | tuple[Tensor, Tensor | None]:
        if any(fp8):
            raise NotImplementedError(f"{type(self).__name__}: fp8_output and fp8_grad are not served by anywarp")
        weight, bias = self._whole()
        late = self.return_bias or (self.parallel_mode == "row" and self.tp_size > 1)
        out = self.product(self.division.before(x), weight, None if late else bias, first=first)
        out, bias = self.division.after(out), None if bias is None else bias.to(x.dtype)
        if self.return_bias:
            return out, bias
        return out + bias if late and bias is not None else out


class Linear(_Projection):
    """y = x A^T + b."""

    def __init__(
        self, in_features, out_features, sequence_parallel=False, fuse_wgrad_accumulation=False, tp_group=None, tp_size=1, get_rng_state_tracker=None,
        rng_tracker_name=None, init_method=None, bias=True, return_bias=False, params_dtype=None, parallel_mode=None, parameters_split=None,
        device="cuda", **more,
    ):  # fmt: skip
        super().__init__()
        check_one_card("Linear", {**more, "fuse_wgrad_accumulation": fuse_wgrad_accumulation})
        self._divide(tp_group, tp_size, parallel_mode, sequence_parallel, get_rng_state_tracker, rng_tracker_name)
        self.return_bias = return_bias
        self._make(in_features, out_features, bias, init_method, parameters_split, device, params_dtype)
        self.reset_parameters()

    def forward(self, inp: Tensor, is_first_microbatch=None, fp8_output=False, fp8_grad=False):
        """Return the product; with `return_bias` the bias beside it, not added."""
        return self._project(self.in_type(inp), is_first_microbatch, (fp8_output, fp8_grad))


class GroupedLinear(Layer):
    """Several linear layers of one shape, each for its part of the rows."""

    def __init__(
        self, num_gemms, in_features, out_features, sequence_parallel=False, fuse_wgrad_accumulation=False, tp_group=None, tp_size=1,
        get_rng_state_tracker=None, rng_tracker_name=None, init_method=None, bias=True, return_bias=False, params_dtype=None, parallel_mode=None,
        device="cuda", **more,
    ):  # fmt: skip
        self.products = tuple(str(each) for each in range(num_gemms))
        super().__init__()
        several = {
            "sequence_parallel": sequence_parallel,
            "fuse_wgrad_accumulation": fuse_wgrad_accumulation,
            "tp_size": tp_size,
        }
        check_one_card("GroupedLinear", {**more, **several, "tp_group": tp_group})
        self.num_gemms, self.in_features, self.out_features = num_gemms, in_features, out_features
        self.use_bias, self.return_bias, self.init_method = bias, return_bias, init_method
        for each in self.products:
            self.register_parameter(f"weight{each}", _empty((out_features, in_features), device, params_dtype))
            if bias:
                self.register_parameter(f"bias{each}", _empty((out_features,), device, params_dtype))
        self.reset_parameters()

    def reset_parameters(self, defer_init=False) -> None:
        """Draw the weights and set the biases to zeros."""
        with torch.no_grad():
            for each in self.products:
                weight = getattr(self, f"weight{each}")
                (self.init_method or (lambda drawn: nn.init.normal_(drawn, 0.0, DEVIATION)))(weight)
                if self.use_bias:
                    getattr(self, f"bias{each}").zero_()

    def forward(self, inp: Tensor, m_splits, is_first_microbatch=None):
        """Return the products of the parts, which are `m_splits` rows long; with `return_bias` the biases beside them, not added."""
        if len(m_splits) != self.num_gemms:
            raise AssertionError(f"Number of splits ({len(m_splits)}) should match number of GEMMs ({self.num_gemms}).")
        x = self.in_type(inp)
        biases = [getattr(self, f"bias{each}", None) for each in self.products]
        parts = [
            self.product(
                part, getattr(self, f"weight{each}"), None if self.return_bias else bias, each, is_first_microbatch
            )
            for part, each, bias in zip(x.reshape(-1, x.shape[-1]).split(list(m_splits)), self.products, biases)
        ]
        out = torch.cat(parts).view(*x.shape[:-1], self.out_features)
        return (out, [None if bias is None else bias.to(x.dtype) for bias in biases]) if self.return_bias else out


class LayerNormLinear(_Projection):
    """A norm and a linear layer."""

    def __init__(
        self, in_features, out_features, eps=1e-5, sequence_parallel=False, fuse_wgrad_accumulation=False, tp_group=None, tp_size=1,
        get_rng_state_tracker=None, init_method=None, bias=True, normalization="LayerNorm", return_bias=False, params_dtype=None, parallel_mode=None,
        return_layernorm_output=False, return_layernorm_output_gathered=False, parameters_split=None, zero_centered_gamma=False, device="cuda", **more,
    ):  # fmt: skip
        super().__init__()
        several = {
            "fuse_wgrad_accumulation": fuse_wgrad_accumulation,
            "return_layernorm_output_gathered": return_layernorm_output_gathered,
        }
        tracker_name = more.pop("rng_tracker_name", None)
        check_one_card("LayerNormLinear", {**more, **several})
        self._divide(tp_group, tp_size, parallel_mode, sequence_parallel, get_rng_state_tracker, tracker_name)
        self.eps, self.normalization, self.zero_centered_gamma = eps, normalization, zero_centered_gamma
        self.return_bias, self.return_layernorm_output = return_bias, return_layernorm_output
        make_norm(self, in_features, device, params_dtype)
        for each in (self.layer_norm_weight, self.layer_norm_bias):
            if each is not None and self.sequence_parallel:  # gradients are of this rank's rows
                vars(each)["sequence_parallel"] = True
        self._make(in_features, out_features, bias, init_method, parameters_split, device, params_dtype)
        self.reset_parameters()

    def reset_layer_norm_parameters(self) -> None:
        """Set the norm's weight to ones and its bias to zeros."""
        reset_norm(self)

    def reset_parameters(self, defer_init=False) -> None:
        """Set all parameters to what they begin with."""
        super().reset_parameters(defer_init)
        reset_norm(self)

    def forward(self, inp: Tensor, is_first_microbatch=None, fp8_output=False, fp8_grad=False):
        """Return the product of the norm; with `return_bias` and `return_layernorm_output` those beside it."""
        normal = norm_of(self, self.in_type(inp))
        out = self._project(normal, is_first_microbatch, (fp8_output, fp8_grad))
        if not self.return_layernorm_output:
            return out
        return (*out, normal) if self.return_bias else (out, normal)


def make_norm(layer: Any, size: int, device, dtype) -> None:
    """Give a layer the norm's parameters, under the names that all such layers have."""
    layer.layer_norm_weight = _empty((size,), device, dtype)
    if layer.normalization == "RMSNorm":
        layer.layer_norm_bias = None
    elif layer.normalization == "LayerNorm":
        layer.layer_norm_bias = _empty((size,), device, dtype)
    else:
        raise AssertionError(f"Unsupported normalization type {layer.normalization!r}!")


def reset_norm(layer: Any) -> None:
    """Set the norm's weight to ones (zeros where it counts from one) and its bias to zeros."""
    with torch.no_grad():
        layer.layer_norm_weight.fill_(0.0 if layer.zero_centered_gamma else 1.0)
        if layer.layer_norm_bias is not None:
            layer.layer_norm_bias.zero_()


def norm_of(layer: Any, x: Tensor) -> Tensor:
    """Return a layer's norm of x."""
    return normalise(
        x, layer.layer_norm_weight, layer.layer_norm_bias, layer.eps, layer.normalization, layer.zero_centered_gamma
    )


def _gelu(x: Tensor) -> Tensor:
    return functional.gelu(x, approximate="tanh")


def _qgelu(x: Tensor) -> Tensor:
    return x * torch.sigmoid(1.702 * x)


def _srelu(x: Tensor) -> Tensor:
    return functional.relu(x).square()


ACTIVATIONS = {"gelu": _gelu, "qgelu": _qgelu, "relu": functional.relu, "srelu": _srelu, "silu": functional.silu}
GATED = {
    "geglu": _gelu, "glu": torch.sigmoid, "qgeglu": _qgelu, "reglu": functional.relu, "sreglu": _srelu, "swiglu": functional.silu,
}  # fmt: skip
"""Of twice as many columns: the first half goes through the function and is multiplied by the second."""


class LayerNormMLP(Layer):
    """A norm, a linear layer, an activation and another linear layer."""

    products = ("1", "2")

    def __init__(
        self, hidden_size, ffn_hidden_size, eps=1e-5, sequence_parallel=False, return_bias=False, get_rng_state_tracker=None, tp_group=None, tp_size=1,
        init_method=None, bias=True, normalization="LayerNorm", activation="gelu", activation_params=None, output_layer_init_method=None,
        fuse_wgrad_accumulation=False, params_dtype=None, return_layernorm_output=False, return_layernorm_output_gathered=False, seq_length=None,
        micro_batch_size=None, set_parallel_mode=False, zero_centered_gamma=False, device="cuda", **more,
    ):  # fmt: skip
        super().__init__()
        self.checkpoint = more.pop("checkpoint", False)
        several = {
            "sequence_parallel": sequence_parallel,
            "fuse_wgrad_accumulation": fuse_wgrad_accumulation,
            "tp_size": tp_size,
        }
        several["return_layernorm_output_gathered"] = return_layernorm_output_gathered
        check_one_card("LayerNormMLP", {**more, **several, "tp_group": tp_group})
        if activation_params:
            raise NotImplementedError("LayerNormMLP: activation_params is not served by anywarp")
        if activation not in ACTIVATIONS and activation not in GATED:
            raise NotImplementedError(f"LayerNormMLP: activation={activation!r} is not served by anywarp")
        self.eps, self.normalization, self.zero_centered_gamma, self.activation = (
            eps,
            normalization,
            zero_centered_gamma,
            activation,
        )
        self.return_bias, self.return_layernorm_output, self.use_bias = return_bias, return_layernorm_output, bias
        self.init_method, self.output_layer_init_method = init_method, output_layer_init_method
        make_norm(self, hidden_size, device, params_dtype)
        inner = ffn_hidden_size * (2 if activation in GATED else 1)
        self.fc1_weight = _empty((inner, hidden_size), device, params_dtype)
        self.fc1_bias = _empty((inner,), device, params_dtype) if bias else None
        self.fc2_weight = _empty((hidden_size, ffn_hidden_size), device, params_dtype)
        self.fc2_bias = _empty((hidden_size,), device, params_dtype) if bias else None
        self.reset_parameters()

    def reset_parameters(self, defer_init=False) -> None:
        """Set all parameters to what they begin with."""
        reset_norm(self)
        with torch.no_grad():
            for weight, bias, draw in (
                (self.fc1_weight, self.fc1_bias, self.init_method),
                (self.fc2_weight, self.fc2_bias, self.output_layer_init_method),
            ):
                (draw or (lambda each: nn.init.normal_(each, 0.0, DEVIATION)))(weight)
                if bias is not None:
                    bias.zero_()

    def forward(self, inp: Tensor, is_first_microbatch=None):
        """Return the second product; with `return_bias` and `return_layernorm_output` those beside it."""
        normal = norm_of(self, self.in_type(inp))
        x = self.product(normal, self.fc1_weight, self.fc1_bias, "1", is_first_microbatch)
        if self.activation in GATED:
            one, other = x.chunk(2, -1)
            x = GATED[self.activation](one) * other
        else:
            x = ACTIVATIONS[self.activation](x)
        out = self.product(x, self.fc2_weight, None if self.return_bias else self.fc2_bias, "2", is_first_microbatch)
        beside = [] if not self.return_bias else [None if self.fc2_bias is None else self.fc2_bias.to(out.dtype)]
        if self.return_layernorm_output:
            beside.append(normal)
        return (out, *beside) if beside else out
