"""A small Llama-style transformer: RMSNorm, rotary positions, grouped-query attention, SwiGLU and a key-value cache."""

from __future__ import annotations

from dataclasses import dataclass

from tinygrad import Tensor, TinyJit, UOp, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 768
    dim: int = 128
    hidden_dim: int = 384
    n_layers: int = 5
    n_heads: int = 4
    n_kv_heads: int = 2
    max_context: int = 256
    norm_eps: float = 1e-5
    rope_theta: float = 10000.0

    @property
    def head_dim(self) -> int:
        return self.dim // self.n_heads


def precompute_rope(config: Config) -> Tensor:
    """Return the cosines and sines for every position, shape (max_context, head_dim)."""
    freqs = 1.0 / (config.rope_theta ** (Tensor.arange(0, config.head_dim, 2) / config.head_dim))
    angles = Tensor.arange(config.max_context).unsqueeze(1) * freqs.unsqueeze(0)
    return angles.cos().cat(angles.sin(), dim=-1)


def apply_rope(x: Tensor, rope: Tensor) -> Tensor:
    """Rotate the two halves of each head; x is (batch, heads, time, head_dim), rope (time, head_dim)."""
    cos, sin = rope.reshape(1, 1, x.shape[2], -1).chunk(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return (first * cos - second * sin).cat(second * cos + first * sin, dim=-1)


class Attention:
    def __init__(self, config: Config):
        self.config = config
        self.wq = nn.Linear(config.dim, config.n_heads * config.head_dim, bias=False)
        self.wk = nn.Linear(config.dim, config.n_kv_heads * config.head_dim, bias=False)
        self.wv = nn.Linear(config.dim, config.n_kv_heads * config.head_dim, bias=False)
        self.wo = nn.Linear(config.n_heads * config.head_dim, config.dim, bias=False)
        self.cache: Tensor | None = None

    def __call__(self, x: Tensor, start_pos: int | UOp, rope: Tensor) -> Tensor:
        config, (batch, time, _) = self.config, x.shape
        q = self.wq(x).reshape(batch, time, config.n_heads, config.head_dim).transpose(1, 2)
        k = self.wk(x).reshape(batch, time, config.n_kv_heads, config.head_dim).transpose(1, 2)
        v = self.wv(x).reshape(batch, time, config.n_kv_heads, config.head_dim).transpose(1, 2)
        q, k = apply_rope(q, rope), apply_rope(k, rope)
        if self.cache is None:
            shape = (2, batch, config.n_kv_heads, config.max_context, config.head_dim)
            self.cache = Tensor.zeros(*shape).clone().realize()
        self.cache[:, :, :, start_pos : start_pos + time, :].assign(Tensor.stack(k, v)).realize()
        keys = self.cache[0, :, :, : start_pos + time, :]
        values = self.cache[1, :, :, : start_pos + time, :]
        out = q.scaled_dot_product_attention(keys, values, enable_gqa=True)
        return self.wo(out.transpose(1, 2).reshape(batch, time, -1))


class FeedForward:
    def __init__(self, config: Config):
        self.w1 = nn.Linear(config.dim, config.hidden_dim, bias=False)
        self.w2 = nn.Linear(config.hidden_dim, config.dim, bias=False)
        self.w3 = nn.Linear(config.dim, config.hidden_dim, bias=False)

    def __call__(self, x: Tensor) -> Tensor:
        return self.w2(self.w1(x).silu() * self.w3(x))


class Block:
    def __init__(self, config: Config):
        self.attention = Attention(config)
        self.feed_forward = FeedForward(config)
        self.attention_norm = nn.RMSNorm(config.dim, config.norm_eps)
        self.ffn_norm = nn.RMSNorm(config.dim, config.norm_eps)

    def __call__(self, x: Tensor, start_pos: int | UOp, rope: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x), start_pos, rope)
        return (x + self.feed_forward(self.ffn_norm(x))).contiguous()


class Transformer:
    """Predict the next token; the output layer is the transposed embedding."""

    def __init__(self, config: Config):
        self.config = config
        self.tok_embeddings = nn.Embedding(config.vocab_size, config.dim)
        self.layers = [Block(config) for _ in range(config.n_layers)]
        self.norm = nn.RMSNorm(config.dim, config.norm_eps)
        self.rope = precompute_rope(config).clone().realize()
        self.step = TinyJit(self.forward)

    def forward(self, token: Tensor, start_pos: int | UOp) -> Tensor:
        """Return the logits after one token, shape (1, vocab_size)."""
        x = self.tok_embeddings(token)
        rope = self.rope[start_pos : start_pos + 1]
        for layer in self.layers:
            x = layer(x, start_pos, rope)
        return (self.norm(x[:, -1]) @ self.tok_embeddings.weight.T).realize()

    def __call__(self, token: int, position: int) -> Tensor:
        start_pos = UOp.variable("start_pos", 0, self.config.max_context - 1).bind(position)
        return self.step(Tensor([[token]], dtype="int32").realize(), start_pos)
