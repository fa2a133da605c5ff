"""Small models, what can be wrong with one of them on a device, and what may differ without being wrong.

Each is built anew from a seed, so that the recorded side and the other have the same weights; `change` then turns the target's copy.
"""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, WORDS = 64, 4, 97


class Rotary(nn.Module):
    """Turns pairs of channels by angles that grow with the position (Su et al. 2021, "RoFormer", equation 34)."""

    def __init__(self, width: int, base: float = 10000.0):
        super().__init__()
        self.width, self.base = width, base

    def forward(self, x, start: int):
        rates = self.base ** (-torch.arange(0, self.width, 2, device=x.device) / self.width)
        angles = torch.arange(start, start + x.shape[-2], device=x.device)[:, None] * rates
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        one, two = x[..., : self.width // 2], x[..., self.width // 2 :]
        return torch.cat([one * cos - two * sin, one * sin + two * cos], -1)


class Attention(nn.Module):
    """Causal attention that keeps keys and values of earlier calls as attributes of its own."""

    def __init__(self):
        super().__init__()
        self.num_heads = HEADS
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.rotary = Rotary(WIDTH // HEADS)
        self.keys = self.values = torch.zeros(0)
        self.eager = False

    def remember(self, k, v):
        if self.keys.numel():
            k, v = torch.cat([self.keys, k], -2), torch.cat([self.values, v], -2)
        self.keys, self.values = k, v
        return k, v

    def attend(self, q, k, v):
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril(k.shape[-2] - q.shape[-2])
        if self.eager:
            scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~mask, float("-inf"))
            return scores.softmax(-1) @ v
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (y.view(batch, length, HEADS, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        start = self.keys.shape[-2] if self.keys.numel() else 0
        k, v = self.remember(self.rotary(k, start), v)
        out = self.attend(self.rotary(q, start), k, v)
        return self.proj(out.transpose(1, 2).reshape(batch, length, -1))


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.drop = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(self.down(F.gelu(self.up(x))))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attn, self.norm2, self.mlp = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH), Feed()

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def decode(model, device="cpu"):
    """Read a prompt, then write three tokens, as a server does."""
    tokens = torch.randint(0, WORDS, (2, 12), generator=torch.Generator().manual_seed(1)).to(device)
    with torch.no_grad():
        for _ in range(4):
            tokens = model(tokens)[:, -1:].argmax(-1)


class Coded(nn.Module):
    """A linear layer whose weights are bytes of FP8, with a scale."""

    def __init__(self, width: int, out: int):
        super().__init__()
        weight = torch.randn(out, width)
        self.register_buffer("scale", weight.abs().max() / 224)
        self.register_buffer("codes", (weight / self.scale).to(torch.float8_e4m3fn))
        self.kind = torch.float8_e4m3fn

    def forward(self, x):
        return F.linear(x, self.codes.view(self.kind).to(x.dtype) * self.scale.to(x.dtype))


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, padding=1)
        self.norm = nn.BatchNorm2d(32)
        self.mix = nn.Conv2d(32, 64, 3, padding=1)
        self.narrow = nn.Linear(64, 16)
        self.coded = Coded(64, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.stem(x)))
        x = F.relu(self.mix(x)).mean((2, 3))
        return self.coded(x), self.narrow(x)


def classify(model, device="cpu"):
    """Look at a batch of pictures."""
    pictures = torch.randn(4, 3, 12, 12, generator=torch.Generator().manual_seed(2))
    pictures = pictures.to(device, next(model.parameters()).dtype)
    with torch.no_grad():
        model(pictures)


class Faint(nn.Module):
    """Products whose results are near the smallest normal numbers of float16."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(128, 128), nn.Linear(128, 128, bias=False)
        with torch.no_grad():
            self.second.weight.mul_(2.0**-11)

    def forward(self, x):
        return self.second(self.first(x))


def look_faintly(model, device="cpu"):
    x = torch.randn(8, 128, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        model(x.to(device, next(model.parameters()).dtype))


def build(kind: type[nn.Module], dtype: torch.dtype = torch.float32) -> nn.Module:
    """Return a model with the weights that it always has, ready to be used."""
    torch.manual_seed(7)
    model = kind().eval()
    for parameter in model.parameters():  # and not codes, which Module.to would convert
        parameter.data = parameter.data.to(dtype)
    for buffer in model.buffers():
        if buffer.dtype == torch.float32:
            buffer.data = buffer.data.to(dtype)
    return model


# What can be wrong.


def _new_forward(module, forward):
    module.forward = types.MethodType(forward, module)


_faulty = False


@contextmanager
def kernel_with_a_wrong_head():
    """Have the attention kernel scale what one head gives, in the modules that `wrong_head_scale` marks."""
    kernel = F.scaled_dot_product_attention

    def wrong(*args, **kwargs):
        out = kernel(*args, **kwargs)
        return out * torch.tensor([1, 1, 1.05, 1]).view(1, HEADS, 1, 1) if _faulty else out

    F.scaled_dot_product_attention = wrong
    try:
        yield
    finally:
        F.scaled_dot_product_attention = kernel


def wrong_head_scale(model):
    def changed(self, q, k, v):
        global _faulty
        _faulty = True
        try:
            return Attention.attend(self, q, k, v)
        finally:
            _faulty = False

    model.blocks[1].attn.attend = types.MethodType(changed, model.blocks[1].attn)


def swapped_layout(model):
    conv = type(model.mix).forward
    _new_forward(model.mix, lambda self, x: conv(self, x).permute(0, 2, 3, 1).reshape(x.shape[0], 64, *x.shape[2:]))


def _to_tf32(x):
    bits = x.float().contiguous().view(torch.int32)
    return ((bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFF).view(torch.float32)


def tf32_operands(model):
    _new_forward(model.blocks[0].mlp.up, lambda self, x: F.linear(_to_tf32(x), _to_tf32(self.weight), self.bias))


def float16_accumulator(model):
    def forward(self, x):
        total = torch.zeros(*x.shape[:-1], self.out_features, dtype=torch.float16)
        for k in range(0, self.in_features, 4):
            total = total + F.linear(x[..., k : k + 4], self.weight[:, k : k + 4]).half()
        return total.to(x.dtype) + self.bias

    _new_forward(model.blocks[1].mlp.down, forward)


def other_fp8_flavour(model):
    model.coded.kind = torch.float8_e4m3fnuz


def flushed_subnormals(model):
    def forward(self, x):
        out = F.linear(x, self.weight)
        return torch.where(out.abs() < 2.0**-14, torch.zeros_like(out), out)

    _new_forward(model.second, forward)


def tile_off_by_one(model):
    def forward(self, x):
        out = F.linear(x, self.weight, self.bias)
        out[..., 32:64] = F.linear(x.roll(1, -1), self.weight, self.bias)[..., 32:64]
        return out

    _new_forward(model.blocks[0].attn.qkv, forward)


def dropout_left_on(model):
    model.blocks[0].mlp.drop.train()


def stale_cache(model):
    attention = model.blocks[1].attn
    remember = Attention.remember

    def changed(self, k, v):
        if k.shape[-2] == 1 and self.keys.numel():
            return self.keys, self.values
        return remember(self, k, v)

    attention.remember = types.MethodType(changed, attention)


def wrong_rotary_base(model):
    model.blocks[0].attn.rotary.base = 1000.0


@dataclass(frozen=True)
class Defect:
    """Something wrong on the target: where it must be found, and what it must be called."""

    name: str
    model: type[nn.Module]
    run: Callable
    change: Callable[[nn.Module], None]
    places: tuple[str, ...]
    causes: tuple[str, ...]
    dtype: torch.dtype = torch.float32
    beneath: Callable = nullcontext
    """What is changed of torch before the hooks are there."""


_ATTN0, _ATTN1 = "Decoder.blocks.0.attn", "Decoder.blocks.1.attn"
DEFECTS = (
    Defect("scale in one head", Decoder, decode, wrong_head_scale, (f"{_ATTN1}.attention()",), ("scale",), beneath=kernel_with_a_wrong_head),
    Defect("swapped layout", Convolutional, classify, swapped_layout, ("Convolutional.mix",), ("layout",)),
    Defect("TF32 operands", Decoder, decode, tf32_operands, ("Decoder.blocks.0.mlp.up",), ("tf32",)),
    Defect("float16 accumulator", Decoder, decode, float16_accumulator, ("Decoder.blocks.1.mlp.down",), ("float16-accumulation",)),
    Defect("FNUZ bytes read as OCP", Convolutional, classify, other_fp8_flavour, ("Convolutional.coded",), ("fp8-flavour",)),
    Defect("flushed subnormals", Faint, look_faintly, flushed_subnormals, ("Faint.second",), ("flushed-subnormals",), torch.float16),
    Defect("a tile off by one", Decoder, decode, tile_off_by_one, (f"{_ATTN0}.qkv",), ("tile",)),
    Defect("dropout left on", Decoder, decode, dropout_left_on, ("Decoder.blocks.0.mlp.drop",), ("dropout",)),
    Defect("stale cache", Decoder, decode, stale_cache, (f"{_ATTN1}.attention()", _ATTN1), ("stale-cache",)),
    Defect("rotary base", Decoder, decode, wrong_rotary_base, (f"{_ATTN0}.rotary", _ATTN0), ("rotary",)),
)  # fmt: skip


# What may differ.


@dataclass(frozen=True)
class Variation:
    """Something that another device does otherwise, and rightly."""

    name: str
    model: type[nn.Module]
    run: Callable
    change: Callable[[nn.Module], None] = lambda model: None
    around: Callable = lambda run: run()
    dtype: torch.dtype = torch.float32


def _with(get, set_, value):
    def around(run):
        before = get()
        set_(value)
        try:
            run()
        finally:
            set_(before)

    return around


def _threads(count):
    return _with(torch.get_num_threads, torch.set_num_threads, count)


def _mkldnn(on):
    def around(run):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of Intel GPUs, whenever these flags are read
            with torch.backends.mkldnn.flags(enabled=on):
                run()

    return around


def _backend(which):
    def around(run):
        with torch.nn.attention.sdpa_kernel(which):
            run()

    return around


def _eager(model):
    for block in model.blocks:
        block.attn.eager = True


def _split_k(model, parts=4, name="down"):
    """Sum in several parts, as kernels for few rows do."""

    def forward(self, x):
        each = self.in_features // parts
        wide = torch.promote_types(x.dtype, torch.float32)
        x, w = x.to(wide), self.weight.to(wide)
        sums = [F.linear(x[..., i * each : (i + 1) * each], w[:, i * each : (i + 1) * each]) for i in range(parts)]
        return (sum(sums[1:], sums[0]) + self.bias.to(wide)).to(self.weight.dtype)

    for block in model.blocks:
        _new_forward(getattr(block.mlp, name), forward)


def _backwards(model):
    """Sum in the other order."""
    for block in model.blocks:
        _new_forward(block.mlp.up, lambda self, x: F.linear(x.flip(-1), self.weight.flip(-1), self.bias))


def _row_by_row(model):
    """Compute each row of a batch by itself, as another batch size would have it."""
    for block in model.blocks:
        _new_forward(block.attn.qkv, lambda self, x: torch.stack([F.linear(row, self.weight, self.bias) for row in x]))


def _norm_in_float64(model):
    def forward(self, x):
        wide = F.layer_norm(x.double(), self.normalized_shape, self.weight.double(), self.bias.double(), self.eps)
        return wide.to(x.dtype)

    for block in model.blocks:
        _new_forward(block.norm1, forward)


def _norm_by_hand(model):
    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = (x - mean).square().mean(-1, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias

    for block in model.blocks:
        _new_forward(block.norm2, forward)


def _channels_last(model):
    model.to(memory_format=torch.channels_last)


def _unfolded(model):
    """A convolution as a product of matrices."""

    def forward(self, x):
        columns = F.unfold(x, self.kernel_size, padding=self.padding)
        out = self.weight.flatten(1) @ columns + self.bias[:, None]
        return out.view(x.shape[0], -1, *x.shape[2:])

    _new_forward(model.mix, forward)


def _compiled(model):
    model.compile(backend="eager")


_MATH = torch.nn.attention.SDPBackend.MATH
VARIATIONS = (
    Variation("the same", Decoder, decode),
    Variation("one thread", Decoder, decode, around=_threads(1)),
    Variation("three threads", Decoder, decode, around=_threads(3)),
    Variation("without oneDNN", Decoder, decode, around=_mkldnn(False)),
    Variation("attention by its definition", Decoder, decode, _eager),
    Variation("attention of torch in steps", Decoder, decode, around=_backend(_MATH)),
    Variation("sums in four parts", Decoder, decode, _split_k),
    Variation("sums in two parts", Decoder, decode, lambda m: _split_k(m, 2, "up")),
    Variation("sums in the other order", Decoder, decode, _backwards),
    Variation("row by row", Decoder, decode, _row_by_row),
    Variation("norm in float64", Decoder, decode, _norm_in_float64),
    Variation("norm by hand", Decoder, decode, _norm_by_hand),
    Variation("compiled", Decoder, decode, _compiled),
    Variation("bfloat16, one thread", Decoder, decode, around=_threads(1), dtype=torch.bfloat16),
    Variation("bfloat16, without oneDNN", Decoder, decode, around=_mkldnn(False), dtype=torch.bfloat16),
    Variation("bfloat16, sums in four parts", Decoder, decode, _split_k, dtype=torch.bfloat16),
    Variation("float64", Decoder, decode, _split_k, dtype=torch.float64),
    Variation("pictures, the same", Convolutional, classify),
    Variation("pictures, without oneDNN", Convolutional, classify, around=_mkldnn(False)),
    Variation("pictures, channels last", Convolutional, classify, _channels_last),
    Variation("pictures, convolution as a product", Convolutional, classify, _unfolded),
    Variation("pictures, one thread", Convolutional, classify, around=_threads(1)),
    Variation("faint, float16", Faint, look_faintly, around=_mkldnn(False), dtype=torch.float16),
)  # fmt: skip
