"""The story model of `examples/story` in PyTorch: weights and tokenizer are read from there, and it runs on `cuda` where there is one."""

from __future__ import annotations

import json
import pathlib
import struct
import sys

import torch
import torch.nn.functional as F

STORY = pathlib.Path(__file__).resolve().parents[1] / "story"
sys.path.insert(0, str(STORY))
from tokenizer import Tokenizer  # noqa: E402

LAYERS, HEADS, KV_HEADS, HEAD_DIM, CONTEXT = 5, 4, 2, 32, 256


def read_weights(path: pathlib.Path, device: str) -> dict[str, torch.Tensor]:
    """Read a safetensors file of float16 as float32."""
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    weights = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        first, last = (8 + length + place for place in entry["data_offsets"])
        values = torch.frombuffer(data, dtype=torch.float16, offset=first, count=(last - first) // 2)
        weights[name] = values.reshape(entry["shape"]).float().to(device)
    return weights


class Model:
    """A Llama-style transformer with a cache of keys and values for a fixed number of sequences."""

    def __init__(self, slots: int = 8, device: str | None = None, rope_base: float = 10000.0):
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.tokenizer = Tokenizer.load(STORY / "tokenizer.json")
        self.weights = read_weights(STORY / "weights.safetensors", self.device)
        angles = torch.arange(CONTEXT).outer(1.0 / rope_base ** (torch.arange(0, HEAD_DIM, 2) / HEAD_DIM))
        self.cos, self.sin = angles.cos().to(self.device), angles.sin().to(self.device)
        self.cache = torch.zeros(LAYERS, 2, slots, KV_HEADS, CONTEXT, HEAD_DIM, device=self.device)
        self.places = torch.arange(CONTEXT, device=self.device)

    def rotate(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Rotate the two halves of each head; x is (batch, heads, time, head_dim), positions (batch, time)."""
        cos, sin = self.cos[positions].unsqueeze(1), self.sin[positions].unsqueeze(1)
        first, second = x.chunk(2, -1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

    @torch.inference_mode()
    def forward(self, tokens: list[list[int]], slots: list[int], starts: list[int]) -> torch.Tensor:
        """Return the logits behind each token, (batch, time, vocabulary): rows of one length, each going on in its slot at its start."""
        w, batch, time = self.weights, len(tokens), len(tokens[0])
        rows = torch.tensor(slots, device=self.device)
        positions = torch.tensor(starts, device=self.device).unsqueeze(1) + self.places[:time]
        longest = max(starts) + time  # behind it nothing was written yet that these rows may see
        seen = (self.places[:longest] <= positions.unsqueeze(-1)).unsqueeze(1)
        x = w["tok_embeddings.weight"][torch.tensor(tokens, device=self.device)]
        for layer in range(LAYERS):
            at = f"layers.{layer}."
            h = F.rms_norm(x, (x.shape[-1],), w[at + "attention_norm.weight"], 1e-5)
            q, k, v = (
                (h @ w[f"{at}attention.w{name}.weight"].T).view(batch, time, -1, HEAD_DIM).transpose(1, 2)
                for name in "qkv"
            )
            q, k = self.rotate(q, positions), self.rotate(k, positions)
            index = (rows.unsqueeze(1), slice(None), positions)
            self.cache[layer, 0][index] = k.transpose(1, 2)
            self.cache[layer, 1][index] = v.transpose(1, 2)
            keys, values = (
                self.cache[layer, n, :, :, :longest][rows].repeat_interleave(HEADS // KV_HEADS, 1) for n in (0, 1)
            )
            h = F.scaled_dot_product_attention(q, keys, values, attn_mask=seen)
            x = x + h.transpose(1, 2).reshape(batch, time, -1) @ w[at + "attention.wo.weight"].T
            h = F.rms_norm(x, (x.shape[-1],), w[at + "ffn_norm.weight"], 1e-5)
            gate = F.silu(h @ w[at + "feed_forward.w1.weight"].T) * (h @ w[at + "feed_forward.w3.weight"].T)
            x = x + gate @ w[at + "feed_forward.w2.weight"].T
        x = F.rms_norm(x, (x.shape[-1],), w["norm.weight"], 1e-5)
        return x @ w["tok_embeddings.weight"].T
