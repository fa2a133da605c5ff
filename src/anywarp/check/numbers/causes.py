"""The causes that differences are traced to: in words, and what to do about each."""

from __future__ import annotations

CAUSES: dict[str, tuple[str, str]] = {
    "tf32": (
        "operands are rounded to TF32 on one side only",
        "set it alike on both sides: torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32, HIPBLASLT_ALLOW_TF32",
    ),
    "narrow-operands": (
        "operands are rounded to a narrower type on one side only",
        "look for autocast, quantisation or a narrower type of weights on that side",
    ),
    "float16-accumulation": (
        "sums are kept in float16 on one side",
        "turn reduced-precision reductions off (torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction), or choose a kernel with float32 sums",
    ),
    "truncated-accumulation": (
        "sums are cut instead of rounded, or kept in fewer bits",
        "choose a kernel with full float32 sums, as 8-bit products with promotion of partial sums; errors grow as K, so look at the longest sums",
    ),
    "narrow-result": (
        "the result passes through a narrower type on one side",
        "look for a conversion or an intermediate buffer of that type",
    ),
    "fp8-flavour": (
        "the two flavours of 8-bit floats (OCP e4m3fn, FNUZ) are mixed up",
        "convert weights and their scales: the same bits mean twice as much in OCP's flavour; FNUZ's 0x80 is NaN",
    ),
    "saturated": (
        "values are clipped at the largest number of a narrow type",
        "compute scales for the type that is used: 448 for OCP's e4m3, 240 for FNUZ",
    ),
    "overflow": ("a narrower type overflows on one side", "use bfloat16 or float32 there, or scale the values"),
    "flushed-subnormals": (
        "subnormal numbers become zero on one side",
        "set it alike on both sides (MIOPEN_DEBUG_CONVOLUTION_ATTRIB_FP16_ALT_IMPL, torch.set_flush_denormal, -ftz), or use bfloat16",
    ),
    "scale": (
        "a factor is wrong",
        "look for the scale of attention or quantisation, a missing division, and per-head or per-channel scales",
    ),
    "offset": (
        "a term is missing or counted twice, as a bias",
        "look for the bias, and for residuals that are added twice",
    ),
    "layout": (
        "the same values in other places: axes, heads or halves are swapped",
        "look at strides, views and permutations before the kernel, and at the order of heads in fused weights",
    ),
    "shifted": (
        "values are off by some places along an axis",
        "look at offsets and padding of the kernel's loads and stores",
    ),
    "tile": (
        "a kernel is wrong in some tiles",
        "report it with the shape and the tile; until then choose another kernel or tile size",
    ),
    "dropout": ("dropout is on, or noise is drawn", "call eval() on the module, or seed both sides alike"),
    "not-repeatable": (
        "two runs on the target differ",
        "turn deterministic algorithms on; measure the source's own noise, too",
    ),
    "rotary": (
        "rotary position embeddings turn by other angles (base, scaling or offset)",
        "compare rope_theta, rope_scaling and the first position",
    ),
    "position": (
        "errors grow with the position: positions are encoded otherwise",
        "compare position ids and the embedding's parameters",
    ),
    "mask": (
        "attention sees other positions: the mask differs",
        "compare is_causal, the mask's type (added or boolean) and its alignment",
    ),
    "stale-cache": (
        "a cache holds values of an earlier step",
        "look at where the cache is written and read, and at graphs that were captured with old pointers",
    ),
    "other-function": ("another formula computes this function", "set it alike on both sides, as GELU's approximate"),
    "transposed-weight": ("a weight is taken transposed", "look at the conversion of the weights"),
    "other-values": (
        "nothing is alike but the values' size: other weights or inputs",
        "check that both sides load the same weights and get the same inputs",
    ),
    "other-weights": ("the parameters are not the reference's", "load the weights that the recording was made with"),
    "accumulated": (
        "every layer is right by itself, and differences grow with depth",
        "judge by the language model's figures or by tasks; measure the source's own noise with a second recording",
    ),
}
"""Every cause that a fingerprint may name: what it means, and what to do."""
