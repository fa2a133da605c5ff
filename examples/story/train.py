"""Train the story model from nothing on a CPU in about twenty minutes.

Forward and backward passes are written out in numpy, since its matrix product is many times faster on a CPU than the
kernels that a compiler makes; the weights are saved under the names that model.py gives them.

    python train.py --minutes 20
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import random
import struct
import time
from dataclasses import dataclass

import numpy as np
from corpus import write_drill, write_story
from tokenizer import Tokenizer, train_tokenizer

HERE = pathlib.Path(__file__).parent
Weights = dict[str, np.ndarray]


@dataclass(frozen=True)
class Shape:
    """The same numbers as model.Config, without importing tinygrad."""

    vocab_size: int = 768
    dim: int = 128
    hidden_dim: int = 384
    n_layers: int = 5
    n_heads: int = 4
    n_kv_heads: int = 2
    norm_eps: float = 1e-5
    rope_theta: float = 10000.0

    @property
    def head_dim(self) -> int:
        return self.dim // self.n_heads


def init_weights(shape: Shape, rng: np.random.Generator) -> Weights:
    def normal(out: int, inner: int, scale: float = 1.0) -> np.ndarray:
        return (rng.standard_normal((out, inner)) * scale / math.sqrt(inner)).astype(np.float32)

    weights = {"tok_embeddings.weight": normal(shape.vocab_size, shape.dim, 0.5)}
    weights["norm.weight"] = np.ones(shape.dim, np.float32)
    kv_dim, small = shape.n_kv_heads * shape.head_dim, 1 / math.sqrt(2 * shape.n_layers)
    for layer in range(shape.n_layers):
        at = f"layers.{layer}."
        weights[at + "attention.wq.weight"] = normal(shape.dim, shape.dim)
        weights[at + "attention.wk.weight"] = normal(kv_dim, shape.dim)
        weights[at + "attention.wv.weight"] = normal(kv_dim, shape.dim)
        weights[at + "attention.wo.weight"] = normal(shape.dim, shape.dim, small)
        weights[at + "feed_forward.w1.weight"] = normal(shape.hidden_dim, shape.dim)
        weights[at + "feed_forward.w2.weight"] = normal(shape.dim, shape.hidden_dim, small)
        weights[at + "feed_forward.w3.weight"] = normal(shape.hidden_dim, shape.dim)
        weights[at + "attention_norm.weight"] = np.ones(shape.dim, np.float32)
        weights[at + "ffn_norm.weight"] = np.ones(shape.dim, np.float32)
    return weights


class Network:
    """The model with its gradients. Activations are (batch, time, dim); heads are (batch, heads, time, head_dim)."""

    def __init__(self, shape: Shape, weights: Weights, length: int):
        self.shape, self.weights = shape, weights
        self.grads = {name: np.zeros_like(value) for name, value in weights.items()}
        half = shape.head_dim // 2
        freqs = 1.0 / shape.rope_theta ** (np.arange(half) * 2 / shape.head_dim)
        angles = np.outer(np.arange(length), freqs)
        self.cos, self.sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        self.mask = np.triu(np.full((length, length), -1e9, np.float32), 1)
        self.tape: list = []

    def loss(self, tokens: np.ndarray, targets: np.ndarray) -> float:
        """Return the mean cross entropy in nats and leave the gradients in self.grads."""
        for grad in self.grads.values():
            grad.fill(0)
        x = self.weights["tok_embeddings.weight"][tokens]
        for layer in range(self.shape.n_layers):
            x = x + self.attention(self.norm(x, f"layers.{layer}.attention_norm.weight"), f"layers.{layer}.attention.")
            x = x + self.feed_forward(self.norm(x, f"layers.{layer}.ffn_norm.weight"), f"layers.{layer}.feed_forward.")
        x = self.norm(x, "norm.weight")
        embedding = self.weights["tok_embeddings.weight"]
        logits = x @ embedding.T
        logits -= logits.max(-1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(-1, keepdims=True)
        chosen = np.take_along_axis(logits, targets[..., None], -1)
        value = float(-np.log(chosen + 1e-20).mean())
        np.put_along_axis(logits, targets[..., None], chosen - 1, -1)
        logits /= targets.size
        self.grads["tok_embeddings.weight"] += flat(logits).T @ flat(x)
        grad = self.norm_back(logits @ embedding)
        for layer in reversed(range(self.shape.n_layers)):
            grad = grad + self.norm_back(self.feed_forward_back(grad, f"layers.{layer}.feed_forward."))
            grad = grad + self.norm_back(self.attention_back(grad, f"layers.{layer}.attention."))
        np.add.at(self.grads["tok_embeddings.weight"], tokens, grad)
        return value

    def linear_back(self, grad: np.ndarray, x: np.ndarray, name: str) -> np.ndarray:
        self.grads[name] += flat(grad).T @ flat(x)
        return grad @ self.weights[name]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        scale = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + self.shape.norm_eps)
        self.tape.append((x, scale, name))
        return x * scale * self.weights[name]

    def norm_back(self, grad: np.ndarray) -> np.ndarray:
        x, scale, name = self.tape.pop()
        self.grads[name] += (grad * x * scale).sum((0, 1))
        grad = grad * self.weights[name]
        return scale * (grad - x * scale * scale * (grad * x).mean(-1, keepdims=True))

    def feed_forward(self, x: np.ndarray, at: str) -> np.ndarray:
        gate, up = x @ self.weights[at + "w1.weight"].T, x @ self.weights[at + "w3.weight"].T
        sigmoid = 1 / (1 + np.exp(-gate))
        self.tape.append((x, gate, up, sigmoid))
        return (gate * sigmoid * up) @ self.weights[at + "w2.weight"].T

    def feed_forward_back(self, grad: np.ndarray, at: str) -> np.ndarray:
        x, gate, up, sigmoid = self.tape.pop()
        silu = gate * sigmoid
        grad = self.linear_back(grad, silu * up, at + "w2.weight")
        grad_gate = grad * up * (sigmoid + silu * (1 - sigmoid))
        return self.linear_back(grad_gate, x, at + "w1.weight") + self.linear_back(grad * silu, x, at + "w3.weight")

    def rotate(self, x: np.ndarray, sign: int) -> np.ndarray:
        first, second = np.split(x, 2, -1)
        sin = self.sin * sign
        return np.concatenate([first * self.cos - second * sin, second * self.cos + first * sin], -1)

    def heads(self, x: np.ndarray, count: int) -> np.ndarray:
        return x.reshape(*x.shape[:2], count, self.shape.head_dim).transpose(0, 2, 1, 3)

    def attention(self, x: np.ndarray, at: str) -> np.ndarray:
        shape, repeat = self.shape, self.shape.n_heads // self.shape.n_kv_heads
        q = self.rotate(self.heads(x @ self.weights[at + "wq.weight"].T, shape.n_heads), 1)
        k = self.rotate(self.heads(x @ self.weights[at + "wk.weight"].T, shape.n_kv_heads), 1).repeat(repeat, 1)
        v = self.heads(x @ self.weights[at + "wv.weight"].T, shape.n_kv_heads).repeat(repeat, 1)
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(shape.head_dim) + self.mask
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        out = (scores @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        self.tape.append((x, q, k, v, scores, out))
        return out @ self.weights[at + "wo.weight"].T

    def attention_back(self, grad: np.ndarray, at: str) -> np.ndarray:
        x, q, k, v, scores, out = self.tape.pop()
        shape = self.shape
        grad = self.heads(self.linear_back(grad, out, at + "wo.weight"), shape.n_heads)
        grad_v, grad_scores = scores.swapaxes(-1, -2) @ grad, grad @ v.swapaxes(-1, -2)
        grad_scores = scores * (grad_scores - (grad_scores * scores).sum(-1, keepdims=True)) / math.sqrt(shape.head_dim)
        grad_q = self.rotate(grad_scores @ k, -1)
        grad_k = self.rotate(grad_scores.swapaxes(-1, -2) @ q, -1)
        parts = [(grad_q, "wq.weight"), (self.share(grad_k), "wk.weight"), (self.share(grad_v), "wv.weight")]
        return sum(self.linear_back(unheads(part), x, at + name) for part, name in parts)  # type: ignore[return-value]

    def share(self, grad: np.ndarray) -> np.ndarray:
        """Add up the gradients of the query heads that use one key-value head."""
        batch, _, time_, dim = grad.shape
        return grad.reshape(batch, self.shape.n_kv_heads, -1, time_, dim).sum(2)


def flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1, x.shape[-1])


def unheads(x: np.ndarray) -> np.ndarray:
    batch, heads, time_, dim = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, time_, heads * dim)


class Adam:
    def __init__(self, weights: Weights):
        self.first = {name: np.zeros_like(value) for name, value in weights.items()}
        self.second = {name: np.zeros_like(value) for name, value in weights.items()}
        self.count = 0

    def update(self, weights: Weights, grads: Weights, rate: float) -> None:
        self.count += 1
        norm = math.sqrt(sum(float((grad * grad).sum()) for grad in grads.values()))
        clip = min(1.0, 1.0 / (norm + 1e-6))
        rate *= math.sqrt(1 - 0.98**self.count) / (1 - 0.9**self.count)
        for name, grad in grads.items():
            grad = grad * clip
            self.first[name] += 0.1 * (grad - self.first[name])
            self.second[name] += 0.02 * (grad * grad - self.second[name])
            weights[name] -= rate * self.first[name] / (np.sqrt(self.second[name]) + 1e-8)


def draw_batch(rng: random.Random, tokenizer: Tokenizer, rows: int, length: int, drills: float = 0.0) -> np.ndarray:
    """Draw rows of new stories; every row begins with the start of a story, as generation does.

    A part of the rows are drills. Names and colours stay the same through a story, but are so few of its tokens that
    a small model would take hours to find out that it must look back for them; in a drill they are half of the text.
    """
    batch = []
    for _ in range(rows):
        row: list[int] = []
        while len(row) <= length:
            text = write_drill(rng) if rng.random() < drills else write_story(rng)
            row += [tokenizer.end, *tokenizer.encode(text)]
        batch.append(row[: length + 1])
    return np.array(batch)


def save_weights(weights: Weights, path: pathlib.Path) -> None:
    """Write a safetensors file of float16: eight bytes of header length, a JSON header, the data."""
    header, offset, blobs = {}, 0, []
    for name, value in sorted(weights.items()):
        blob = value.astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    part = path.with_suffix(".part")
    part.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))
    part.replace(path)


def load_weights(path: pathlib.Path) -> Weights:
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    weights = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        first, last = entry["data_offsets"]
        values = np.frombuffer(data[8 + length + first : 8 + length + last], "<f2")
        weights[name] = values.reshape(entry["shape"]).astype(np.float32)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--length", type=int, default=160)
    parser.add_argument("--rate", type=float, default=4e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="go on from the saved weights")
    args = parser.parse_args()
    rng, shape = random.Random(args.seed), Shape()
    weights = init_weights(shape, np.random.default_rng(args.seed))
    if args.resume:
        weights, tokenizer = load_weights(HERE / "weights.safetensors"), Tokenizer.load(HERE / "tokenizer.json")
    else:
        tokenizer = train_tokenizer([write_story(rng) for _ in range(4000)], shape.vocab_size)
        tokenizer.save(HERE / "tokenizer.json")
    network, adam = Network(shape, weights, args.length), Adam(weights)
    print(f"{len(tokenizer.pieces)} pieces, {sum(w.size for w in weights.values()):,} weights", flush=True)
    start, step, mean = time.monotonic(), 0, 0.0
    while (done := (time.monotonic() - start) / (args.minutes * 60)) < 1:
        # Nine drills in ten rows at the start, none in the second half.
        batch = draw_batch(rng, tokenizer, args.rows, args.length, max(0.0, 0.9 - 1.8 * done))
        loss = network.loss(batch[:, :-1], batch[:, 1:])
        # A short warm-up, then a cosine down to a twentieth, driven by the clock.
        rate = args.rate * min(1, (step + 1) / 50) * (0.525 + 0.475 * math.cos(math.pi * done))
        adam.update(weights, network.grads, rate)
        mean = loss if step == 0 else 0.95 * mean + 0.05 * loss
        if step % 50 == 0:
            print(f"step {step:5d}  loss {mean:.3f}  {(time.monotonic() - start) / 60:.1f} min", flush=True)
            save_weights(weights, HERE / "weights.safetensors")
        step += 1
    save_weights(weights, HERE / "weights.safetensors")
    print(f"{step} steps, loss {mean:.3f}")


if __name__ == "__main__":
    main()
