"""Transformer Engine's attention (its documentation, `transformer_engine.pytorch`): the core, the layer around it, and rotary embeddings, over torch's."""

# pyright: basic
from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from anywarp.frameworks import rotary
from anywarp.frameworks.attention import attend, window
from anywarp.frameworks.neighbours.answers import te_parallel
from anywarp.frameworks.neighbours.answers.te_module import LayerNormLinear, Linear, RMSNorm, check_one_card

__all__ = ["DotProductAttention", "MultiheadAttention", "RotaryPositionEmbedding"]

MASKS = (
    "no_mask", "padding", "causal", "padding_causal", "causal_padding", "causal_bottom_right", "padding_causal_bottom_right", "arbitrary",
)  # fmt: skip


def _refuse(owner: str, given: dict[str, Any]) -> None:
    """Refuse what is not served: every value here but the one in the pair."""
    for name, (value, served) in given.items():
        if value is not served and value != served:
            raise NotImplementedError(f"{owner}: {name}={value!r} is not served by anywarp")


class DotProductAttention(nn.Module):
    """softmax(scale q k' + bias) v under a mask."""

    def __init__(
        self, num_attention_heads, kv_channels, num_gqa_groups=None, attention_dropout=0.0, qkv_format="sbhd", attn_mask_type="causal", window_size=None,
        bottom_right_diagonal=None, softcap=0.0, sequence_parallel=False, tp_size=1, get_rng_state_tracker=None, tp_group=None, layer_number=None,
        attention_type="self", cp_group=None, cp_global_ranks=None, cp_stream=None, cp_comm_type="p2p", softmax_scale=None, softmax_type="vanilla",
        return_max_logit=False, name=None,
    ):  # fmt: skip
        super().__init__()
        self.tracker = get_rng_state_tracker
        _refuse("DotProductAttention", {"softmax_type": (softmax_type, "vanilla"), "cp_group": (cp_group, None)})
        _refuse("DotProductAttention", {"return_max_logit": (bool(return_max_logit), False)})
        width = kv_channels if isinstance(kv_channels, int) else kv_channels[0]
        self.scale = softmax_scale if softmax_scale is not None else 1.0 / math.sqrt(width)
        self.heads, self.groups = num_attention_heads, num_gqa_groups or num_attention_heads
        if self.heads % self.groups:
            raise AssertionError("The number of attention heads must be divisible by the number of GQA groups!")
        ranks = tp_size if tp_group is None else torch.distributed.get_world_size(tp_group)
        if self.groups % ranks:
            raise AssertionError("The number of GQA groups must be divisible by tensor parallel size!")
        self.dropout, self.format, self.mask_type, self.softcap = attention_dropout, qkv_format, attn_mask_type, softcap
        self.window, self.bottom_right = window_size, bottom_right_diagonal

    def forward(
        self, query_layer: Tensor, key_layer: Tensor, value_layer: Tensor, attention_mask=None, qkv_format=None, cu_seqlens_q=None, cu_seqlens_kv=None,
        cu_seqlens_q_padded=None, cu_seqlens_kv_padded=None, max_seqlen_q=None, max_seqlen_kv=None, attn_mask_type=None, window_size=None,
        bottom_right_diagonal=None, softcap=None, checkpoint_core_attention=False, core_attention_bias_type="no_bias", core_attention_bias=None,
        alibi_slopes=None, fast_zero_fill=True, inference_params=None, pad_between_seqs=None, **more,
    ) -> Tensor:  # fmt: skip
        """Return attention with heads and width in one dimension: (rows, batch, all), (batch, rows, all) or (all rows, all)."""
        _refuse(
            "DotProductAttention",
            {"inference_params": (inference_params, None), "pad_between_seqs": (pad_between_seqs or None, None)},
        )
        _refuse(
            "DotProductAttention",
            {"cu_seqlens_q_padded": (cu_seqlens_q_padded, None), "cu_seqlens_kv_padded": (cu_seqlens_kv_padded, None)},
        )
        for name, value in more.items():
            if value not in (None, False, 1, -3, "auto"):
                raise NotImplementedError(f"DotProductAttention: {name} is not served by anywarp")
        kind = (attn_mask_type or self.mask_type).replace(",", "_")
        if kind not in MASKS:
            raise AssertionError(f"Attention mask type {kind} is not supported!")
        rule = _Rule(
            kind, window_size or self.window, self.bottom_right if bottom_right_diagonal is None else bottom_right_diagonal,
            self.softcap if softcap is None else softcap, core_attention_bias_type, core_attention_bias, alibi_slopes,
        )  # fmt: skip
        form = qkv_format or self.format
        q, k, v = query_layer, key_layer, value_layer
        if form == "thd":
            if cu_seqlens_q is None or cu_seqlens_kv is None:
                raise AssertionError("cu_seqlens_q and cu_seqlens_kv can not be None when qkv_format is thd!")
            return self._packed(q, k, v, cu_seqlens_q.tolist(), cu_seqlens_kv.tolist(), rule)
        if form not in ("sbhd", "bshd"):
            raise AssertionError("DotProductAttention only supports qkv_format = {'sbhd', 'bshd', 'thd'}!")
        if kind == "padding_causal_bottom_right":
            raise NotImplementedError(
                f"DotProductAttention: attn_mask_type={kind!r} in {form} is not served by anywarp: use thd"
            )
        order = (1, 2, 0, 3) if form == "sbhd" else (0, 2, 1, 3)
        q, k, v = (each.permute(order) for each in (q, k, v))
        seen = None
        if "padding" in kind:
            seen = _unpadded(attention_mask, cu_seqlens_q, cu_seqlens_kv, q, k)
        elif kind == "arbitrary":
            if attention_mask is None:
                raise AssertionError("attention_mask must be provided for attn_mask_type = arbitrary!")
            seen = ~attention_mask
        out = self._core(q, k, v, seen, rule)
        back = (2, 0, 1, 3) if form == "sbhd" else (0, 2, 1, 3)
        return out.permute(back).flatten(2)

    def _packed(self, q, k, v, of_q, of_k, rule) -> Tensor:
        parts = []
        for n in range(len(of_q) - 1):
            each = (t[a[n] : a[n + 1]].permute(1, 0, 2)[None] for t, a in ((q, of_q), (k, of_k), (v, of_k)))
            one_q, one_k, one_v = each
            parts.append(self._core(one_q, one_k, one_v, None, rule)[0].permute(1, 0, 2).flatten(1))
        rest = q.shape[0] - of_q[-1]
        return torch.cat([*parts, q.new_zeros(rest, q.shape[1] * v.shape[-1])])

    def _core(self, q, k, v, seen, rule: _Rule) -> Tensor:
        """Attend over (batch, heads, rows, width) tensors."""
        more, bias, factor = rule.over(q, k)
        if more is not None:
            seen = more if seen is None else seen & more
        dropout = self.dropout if self.training else 0.0
        scale = self.scale
        if factor is not None:  # a bias before the scale
            bias = factor * scale
        with te_parallel.stream(self.tracker if dropout else None):
            return attend(q, k, v, seen, bias, scale=scale, softcap=rule.softcap, dropout=dropout)


class _Rule:
    """Which columns a row sees beside what is padding, and what is added to its scores."""

    def __init__(self, kind, window, bottom_right, softcap, bias_type, bias, slopes):
        self.causal, self.softcap, self.slopes = "causal" in kind, softcap or 0.0, slopes
        self.bottom_right = ("bottom_right" in kind) if bottom_right is None else bottom_right
        self.window = (-1, -1) if window is None else tuple(window)
        if bias_type not in ("no_bias", "pre_scale_bias", "post_scale_bias", "alibi"):
            raise AssertionError(f"core_attention_bias_type {bias_type!r} is not supported!")
        if bias_type == "alibi" and not self.causal:
            raise NotImplementedError("DotProductAttention: alibi without a causal mask is not served by anywarp")
        self.bias_type, self.bias = bias_type, bias

    def over(self, q: Tensor, k: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """Return what is seen, the bias behind the scale, and the one before it."""
        rows, columns = q.shape[2], k.shape[2]
        shift = columns - rows if self.bottom_right else 0
        away = torch.arange(columns, device=q.device) - torch.arange(rows, device=q.device)[:, None] - shift
        limited = self.causal or max(self.window) >= 0
        seen = window(away, self.causal, *self.window) if limited else None
        if self.bias_type == "alibi":
            slopes = alibi_slopes(q.shape[1], q.device) if self.slopes is None else self.slopes.float()
            return seen, slopes.view(-1, q.shape[1], 1, 1) * (away + shift - (columns - rows)), None
        if self.bias_type == "post_scale_bias":
            return seen, self.bias.to(q.dtype), None
        return seen, None, self.bias if self.bias_type == "pre_scale_bias" else None


def alibi_slopes(heads: int, device) -> Tensor:
    """Return the slopes of ALiBi's paper: powers of 2^(-8/n), and every second one of twice as many where the heads are no power of two."""
    whole = 2 ** math.floor(math.log2(heads))
    first = [2.0 ** (-8.0 * (n + 1) / whole) for n in range(whole)]
    rest = [2.0 ** (-4.0 * (n + 1) / whole) for n in range(0, 2 * (heads - whole), 2)]
    return torch.tensor(first + rest, device=device)


def _unpadded(mask, of_q, of_k, q: Tensor, k: Tensor) -> Tensor:
    """Tell which rows and columns are no padding, from a mask that says which are, or from the sequences' beginnings."""
    if mask is None:
        if of_q is None or of_k is None:
            raise AssertionError("attention_mask or cu_seqlens is needed for a mask of padding")
        rows, columns = (
            torch.arange(size, device=q.device) < (at[1:] - at[:-1])[:, None]
            for at, size in ((of_q, q.shape[2]), (of_k, k.shape[2]))
        )
        return (rows[:, None, :, None]) & (columns[:, None, None, :])
    of_rows, of_columns = mask if isinstance(mask, (tuple, list)) else (mask, mask)
    return (~of_rows).view(q.shape[0], 1, -1, 1) & (~of_columns).view(q.shape[0], 1, 1, -1)


class RotaryPositionEmbedding(nn.Module):
    """The angles of rotary embeddings, (rows, 1, 1, width)."""

    inv_freq: Tensor

    def __init__(
        self, dim, rotary_percent=1.0, seq_len_interpolation_factor=None, pretrained_max_position_embeddings=None, rotary_base=10000.0, interleaved=False
    ):  # fmt: skip
        super().__init__()
        if pretrained_max_position_embeddings is not None:
            raise NotImplementedError(
                "RotaryPositionEmbedding: pretrained_max_position_embeddings is not served by anywarp"
            )
        width = int(dim * rotary_percent) if rotary_percent < 1.0 else dim
        self.factor, self.interleaved = seq_len_interpolation_factor, interleaved
        device = torch.device("cuda", torch.cuda.current_device())
        turns = 1.0 / rotary_base ** (torch.arange(0, width, 2, dtype=torch.float32, device=device) / width)
        self.register_buffer("inv_freq", turns)

    def forward(self, max_seq_len: int, offset: int = 0) -> Tensor:
        """Return the angles of rows from `offset` on."""
        rows = torch.arange(max_seq_len, device=self.inv_freq.device, dtype=self.inv_freq.dtype) + offset
        if self.factor is not None:
            rows = rows / self.factor
        return rotary.for_both(torch.outer(rows, self.inv_freq), self.interleaved)[:, None, None, :]


def rotate(x: Tensor, angles: Tensor, interleaved: bool) -> Tensor:
    """Return x (rows, batch, heads, width) turned by angles (rows, 1, 1, width or less)."""
    angles = angles[: x.shape[0]].float()
    return rotary.turn(x, angles.cos(), angles.sin(), interleaved)


class MultiheadAttention(nn.Module):
    """Projections, attention, and the projection behind it; with `input_layernorm` a norm before."""

    qkv: Linear
    query_layer: Linear
    layernorm_qkv: LayerNormLinear
    layernorm_query: LayerNormLinear

    def __init__(
        self, hidden_size, num_attention_heads, kv_channels=None, attention_dropout=0.1, layernorm_epsilon=1e-5, init_method=None,
        output_layer_init_method=None, layer_number=None, attn_mask_type="causal", window_size=None, bottom_right_diagonal=None, softcap=0.0, tp_group=None,
        tp_size=1, num_gqa_groups=None, fuse_wgrad_accumulation=False, get_rng_state_tracker=None, sequence_parallel=False, params_dtype=None,
        return_bias=False, return_layernorm_output=False, input_layernorm=False, attention_type="self", set_parallel_mode=False, fuse_qkv_params=False,
        zero_centered_gamma=False, qkv_weight_interleaved=True, rotary_pos_interleaved=False, bias=True, normalization="LayerNorm", device="cuda",
        qkv_format="sbhd", name=None, qk_norm_type=None, qk_norm_eps=1e-6, qk_norm_before_rope=False, softmax_type="vanilla", **more,
    ):  # fmt: skip
        super().__init__()
        several = {
            "tp_size": tp_size,
            "fuse_wgrad_accumulation": fuse_wgrad_accumulation,
            "sequence_parallel": sequence_parallel,
        }
        check_one_card("MultiheadAttention", {**more, **several, "tp_group": tp_group})
        if qk_norm_type not in (None, "RMSNorm"):
            raise NotImplementedError(f"MultiheadAttention: qk_norm_type={qk_norm_type!r} is not served by anywarp")
        if attention_type not in ("self", "cross"):
            raise AssertionError(f"attention_type {attention_type} not supported")
        self.heads, self.width = num_attention_heads, kv_channels or hidden_size // num_attention_heads
        self.groups = num_gqa_groups or num_attention_heads
        if self.heads % self.groups:
            raise AssertionError("The number of attention heads must be divisible by the number of GQA groups!")
        self.attention_type, self.format, self.input_layernorm = attention_type, qkv_format, input_layernorm
        self.return_bias, self.return_layernorm_output = return_bias, return_layernorm_output
        self.interleaved_weights = qkv_weight_interleaved and fuse_qkv_params
        self.rotary_interleaved, self.norm_first = rotary_pos_interleaved, qk_norm_before_rope
        inner, narrow = self.heads * self.width, self.groups * self.width
        common: dict[str, Any] = {
            "bias": bias,
            "init_method": init_method,
            "params_dtype": params_dtype,
            "device": device,
        }
        norm: dict[str, Any] = {
            "eps": layernorm_epsilon,
            "normalization": normalization,
            "zero_centered_gamma": zero_centered_gamma,
        }
        norm["return_layernorm_output"] = return_layernorm_output
        first = (lambda *sizes, **named: LayerNormLinear(*sizes, **named, **norm)) if input_layernorm else Linear
        prefix = "layernorm_" if input_layernorm else ""
        if attention_type == "self":
            split = None if fuse_qkv_params else {"query": inner, "key": narrow, "value": narrow}
            setattr(self, f"{prefix}qkv", first(hidden_size, inner + 2 * narrow, parameters_split=split, **common))
        else:
            setattr(self, "layernorm_query" if input_layernorm else "query_layer", first(hidden_size, inner, **common))
            split = None if fuse_qkv_params else ("key", "value")
            self.key_value = Linear(hidden_size, 2 * narrow, parameters_split=split, **common)
        if qk_norm_type is not None:
            self.q_norm, self.k_norm = (
                RMSNorm(self.width, qk_norm_eps, params_dtype=params_dtype, device=device) for _ in "qk"
            )
        self.core_attention = DotProductAttention(
            num_attention_heads, self.width, num_gqa_groups, attention_dropout, qkv_format, attn_mask_type, window_size, bottom_right_diagonal,
            softcap, layer_number=layer_number, attention_type=attention_type, softmax_type=softmax_type,
        )  # fmt: skip
        self.proj = Linear(
            inner, hidden_size, init_method=output_layer_init_method, bias=bias, return_bias=return_bias, params_dtype=params_dtype, device=device
        )  # fmt: skip

    def forward(
        self, hidden_states: Tensor, attention_mask=None, encoder_output=None, attn_mask_type=None, window_size=None, bottom_right_diagonal=None,
        is_first_microbatch=None, checkpoint_core_attention=False, inference_params=None, rotary_pos_emb=None, **more,
    ):  # fmt: skip
        """Return the layer's output; with `return_bias` and `return_layernorm_output` those beside it."""
        _refuse("MultiheadAttention", {"inference_params": (inference_params, None)})
        normal = None
        if self.attention_type == "self":
            layer = self.layernorm_qkv if self.input_layernorm else self.qkv
            mixed = layer(hidden_states, is_first_microbatch=is_first_microbatch)
            mixed, normal = mixed if isinstance(mixed, tuple) else (mixed, None)
            q, k, v = self._parts(mixed)
        else:
            layer = self.layernorm_query if self.input_layernorm else self.query_layer
            q = layer(hidden_states, is_first_microbatch=is_first_microbatch)
            q, normal = q if isinstance(q, tuple) else (q, None)
            both = self.key_value(encoder_output, is_first_microbatch=is_first_microbatch)
            if self.interleaved_weights:
                k, v = both.unflatten(-1, (self.groups, 2 * self.width)).split(self.width, -1)
            else:
                k, v = (each.unflatten(-1, (self.groups, self.width)) for each in both.chunk(2, -1))
            q = q.unflatten(-1, (self.heads, self.width))
        if self.norm_first:
            q, k = self._normal(q, k)
        if rotary_pos_emb is not None:
            of_q, of_k = rotary_pos_emb if isinstance(rotary_pos_emb, tuple) else (rotary_pos_emb, rotary_pos_emb)
            if self.format == "thd":
                raise NotImplementedError(
                    "MultiheadAttention: rotary_pos_emb with qkv_format='thd' is not served by anywarp"
                )
            rows_first = (lambda t: t) if self.format == "sbhd" else (lambda t: t.transpose(0, 1))
            q, k = (rows_first(rotate(rows_first(t), a, self.rotary_interleaved)) for t, a in ((q, of_q), (k, of_k)))
        if not self.norm_first:
            q, k = self._normal(q, k)
        out = self.core_attention(
            q, k, v, attention_mask, attn_mask_type=attn_mask_type, window_size=window_size, bottom_right_diagonal=bottom_right_diagonal, **more
        )  # fmt: skip
        out = self.proj(out, is_first_microbatch=is_first_microbatch)
        found = list(out) if isinstance(out, tuple) else [out]
        if self.input_layernorm and self.return_layernorm_output:
            found.append(normal)
        return tuple(found) if len(found) > 1 else found[0]

    def _normal(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return (self.q_norm(q), self.k_norm(k)) if hasattr(self, "q_norm") else (q, k)

    def _parts(self, mixed: Tensor) -> tuple[Tensor, ...]:
        """Take query, key and value apart: by groups of heads where the weights are interleaved, else one behind the other."""
        if self.interleaved_weights:
            each = self.heads // self.groups
            q, k, v = mixed.unflatten(-1, (self.groups, each + 2, self.width)).split((each, 1, 1), -2)
            return q.flatten(-3, -2), k.squeeze(-2), v.squeeze(-2)
        sizes = (self.heads * self.width, self.groups * self.width, self.groups * self.width)
        return tuple(part.unflatten(-1, (-1, self.width)) for part in mixed.split(sizes, -1))
