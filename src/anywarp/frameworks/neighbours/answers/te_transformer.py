"""Transformer Engine's transformer layer (its documentation, `transformer_engine.pytorch.TransformerLayer`), of its other layers."""

# pyright: basic
from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from anywarp.frameworks.neighbours.answers.te_attention import MultiheadAttention
from anywarp.frameworks.neighbours.answers.te_module import LayerNorm, LayerNormMLP, RMSNorm, check_one_card

__all__ = ["TransformerLayer"]

_OVERLAPS = ("ub_overlap_ag", "ub_overlap_rs", "ub_overlap_rs_dgrad", "ub_bulk_dgrad", "ub_bulk_wgrad")
"""Arguments about communication between cards, which do nothing where `ub_tp_comm_overlap` is off."""


class TransformerLayer(nn.Module):
    """Attention, in a decoder attention to the encoder's output, and the two products of the MLP, each around a residual."""

    def __init__(
        self, hidden_size, ffn_hidden_size, num_attention_heads, num_gqa_groups=None, layernorm_epsilon=1e-5, hidden_dropout=0.1, attention_dropout=0.1,
        init_method=None, output_layer_init_method=None, layer_number=None, kv_channels=None, self_attn_mask_type="causal", window_size=None,
        bottom_right_diagonal=None, softcap=0.0, enc_dec_attn_mask_type="no_mask", enc_dec_bottom_right_diagonal=None, enc_dec_window_size=None,
        tp_group=None, tp_size=1, params_dtype=None, get_rng_state_tracker=None, fuse_wgrad_accumulation=False, seq_length=None, micro_batch_size=None,
        sequence_parallel=False, apply_residual_connection_post_layernorm=False, output_layernorm=False, parallel_attention_mlp=False,
        layer_type="encoder", drop_path_rate=0.0, set_parallel_mode=False, fuse_qkv_params=False, rotary_pos_interleaved=False,
        zero_centered_gamma=False, qkv_weight_interleaved=True, ub_tp_comm_overlap=False, bias=True, activation="gelu", activation_params=None,
        normalization="LayerNorm", device="cuda", attn_input_format="sbhd", name=None, qk_norm_type=None, qk_norm_eps=1e-6, qk_norm_before_rope=False,
        softmax_type="vanilla", **more,
    ):  # fmt: skip
        super().__init__()
        several = {
            "tp_size": tp_size,
            "fuse_wgrad_accumulation": fuse_wgrad_accumulation,
            "sequence_parallel": sequence_parallel,
        }
        rest = {each: value for each, value in more.items() if each not in _OVERLAPS}
        check_one_card("TransformerLayer", {**rest, **several, "tp_group": tp_group})
        for what, value in (
            ("ub_tp_comm_overlap", ub_tp_comm_overlap),
            ("drop_path_rate", drop_path_rate),
            ("activation_params", activation_params),
        ):
            if value:
                raise NotImplementedError(f"TransformerLayer: {what}={value!r} is not served by anywarp")
        if layer_type not in ("encoder", "decoder"):
            raise AssertionError(f"layer_type {layer_type} not supported")
        if parallel_attention_mlp and (
            layer_type != "encoder" or apply_residual_connection_post_layernorm or output_layernorm
        ):
            raise AssertionError("parallel_attention_mlp is for encoders without other places of norms and residuals")
        self.layer_type, self.hidden_dropout, self.after_norm = (
            layer_type,
            hidden_dropout,
            apply_residual_connection_post_layernorm,
        )
        self.output_layernorm, self.parallel_attention_mlp = output_layernorm, parallel_attention_mlp
        self.self_attn_mask_type, self.enc_dec_attn_mask_type = self_attn_mask_type, enc_dec_attn_mask_type
        self.enc_dec_window_size, self.enc_dec_bottom_right_diagonal = (
            enc_dec_window_size,
            enc_dec_bottom_right_diagonal,
        )
        common: dict[str, Any] = {
            "init_method": init_method, "output_layer_init_method": output_layer_init_method, "params_dtype": params_dtype, "device": device,
            "normalization": normalization, "zero_centered_gamma": zero_centered_gamma, "bias": bias,
        }  # fmt: skip
        attention: dict[str, Any] = {
            "layernorm_epsilon": layernorm_epsilon, "num_gqa_groups": num_gqa_groups, "softcap": softcap, "fuse_qkv_params": fuse_qkv_params,
            "rotary_pos_interleaved": rotary_pos_interleaved, "qkv_weight_interleaved": qkv_weight_interleaved, "qkv_format": attn_input_format,
            "return_layernorm_output": self.after_norm, "qk_norm_type": qk_norm_type, "qk_norm_eps": qk_norm_eps, "softmax_type": softmax_type,
            "qk_norm_before_rope": qk_norm_before_rope, **common,
        }  # fmt: skip
        sizes = (hidden_size, num_attention_heads, kv_channels, attention_dropout)
        self.self_attention = MultiheadAttention(
            *sizes, attn_mask_type=self_attn_mask_type, window_size=window_size, bottom_right_diagonal=bottom_right_diagonal,
            input_layernorm=not output_layernorm, **attention,
        )  # fmt: skip
        if layer_type == "decoder":
            self.inter_attention = MultiheadAttention(
                *sizes, attn_mask_type=enc_dec_attn_mask_type, attention_type="cross", input_layernorm=True, **attention
            )
        self.layernorm_mlp = LayerNormMLP(
            hidden_size,
            ffn_hidden_size,
            layernorm_epsilon,
            activation=activation,
            return_layernorm_output=self.after_norm,
            **common,
        )
        if output_layernorm:
            kind = LayerNorm if normalization == "LayerNorm" else RMSNorm
            self.layernorm = kind(
                hidden_size,
                layernorm_epsilon,
                params_dtype=params_dtype,
                zero_centered_gamma=zero_centered_gamma,
                device=device,
            )

    def forward(
        self, hidden_states: Tensor, attention_mask=None, self_attn_mask_type=None, window_size=None, bottom_right_diagonal=None, encoder_output=None,
        enc_dec_attn_mask=None, enc_dec_attn_mask_type=None, enc_dec_window_size=None, enc_dec_bottom_right_diagonal=None, is_first_microbatch=None,
        checkpoint_core_attention=False, inference_params=None, rotary_pos_emb=None, **more,
    ) -> Tensor:  # fmt: skip
        """Return the layer's output, in the shape of `hidden_states`."""
        common = {"is_first_microbatch": is_first_microbatch, "inference_params": inference_params}
        out = self.self_attention(
            hidden_states, attention_mask, attn_mask_type=self_attn_mask_type or self.self_attn_mask_type, window_size=window_size,
            bottom_right_diagonal=bottom_right_diagonal, rotary_pos_emb=rotary_pos_emb, **common, **more,
        )  # fmt: skip
        if self.parallel_attention_mlp:
            return hidden_states + self._dropped(out + self.layernorm_mlp(hidden_states, is_first_microbatch))
        states = self._joined(out, hidden_states)
        if self.layer_type == "decoder":
            out = self.inter_attention(
                states, enc_dec_attn_mask, encoder_output, attn_mask_type=enc_dec_attn_mask_type or self.enc_dec_attn_mask_type,
                window_size=enc_dec_window_size or self.enc_dec_window_size,
                bottom_right_diagonal=self.enc_dec_bottom_right_diagonal if enc_dec_bottom_right_diagonal is None else enc_dec_bottom_right_diagonal,
                **common,
            )  # fmt: skip
            states = self._joined(out, states)
        out = self._joined(self.layernorm_mlp(states, is_first_microbatch), states)
        return self.layernorm(out) if self.output_layernorm else out

    def _dropped(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.hidden_dropout, self.training)

    def _joined(self, out, before: Tensor) -> Tensor:
        """Add what a part gave to what went into it, or to its norm where residuals begin behind norms."""
        if isinstance(out, tuple):
            out, before = out[0], out[-1]
        return before + self._dropped(out)
