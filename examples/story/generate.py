"""Tell a story with the trained model, token by token.

DEV=CUDA:PTX python generate.py --prompt "Once upon a time" --seed 3
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time

import numpy as np
from model import Config, Transformer
from tinygrad import Device, dtypes
from tinygrad.nn.state import load_state_dict, safe_load
from tokenizer import Tokenizer

HERE = pathlib.Path(__file__).parent


def load_model() -> Transformer:
    model = Transformer(Config())
    weights = {
        name: value.to(Device.DEFAULT).cast(dtypes.float32)
        for name, value in safe_load(HERE / "weights.safetensors").items()
    }
    load_state_dict(model, weights, strict=False, verbose=False)
    return model


def sample(logits: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    if temperature == 0:
        return int(logits.argmax())
    powers = np.exp((logits - logits.max()) / temperature)
    return int(rng.choice(logits.size, p=powers / powers.sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompt", default="Once upon a time", help="how the story begins")
    parser.add_argument("--tokens", type=int, default=200, help="how many tokens to generate at most")
    parser.add_argument("--temperature", type=float, default=0.7, help="0 always takes the likeliest token")
    parser.add_argument("--seed", type=int, default=0, help="for the choice of tokens")
    parser.add_argument(
        "--replay", type=pathlib.Path, help="take the tokens from this JSON list instead of choosing them"
    )
    parser.add_argument("--save", type=pathlib.Path, help="write logits and tokens to this .npz file")
    parser.add_argument("--stats", type=pathlib.Path, help="write times and counts to this JSON file")
    args = parser.parse_args()

    start = time.perf_counter()
    tokenizer, model = Tokenizer.load(HERE / "tokenizer.json"), load_model()
    rng = np.random.default_rng(args.seed)
    fixed = json.loads(args.replay.read_text()) if args.replay else [tokenizer.end, *tokenizer.encode(args.prompt)]
    limit = len(fixed) if args.replay else min(len(fixed) + args.tokens, model.config.max_context)
    tokens, rows, times = [], [], []
    for position in range(limit):
        token = fixed[position] if position < len(fixed) else sample(rows[-1], args.temperature, rng)
        tokens.append(token)
        if position > 0 and token == tokenizer.end:
            break
        print(tokenizer.decode([token]), end="", flush=True)
        clock = time.perf_counter()
        rows.append(model(token, position).numpy()[0].astype(np.float64))
        times.append(time.perf_counter() - clock)
    print()

    total = time.perf_counter() - start
    # The first two calls of a TinyJit run and record the kernels; from the third on they are replayed.
    steady = len(times[3:]) / sum(times[3:]) if len(times) > 3 else 0.0
    print(f"{len(times)} tokens in {total:.1f} s on {Device.DEFAULT}, {steady:.1f} tokens/s once warm", file=sys.stderr)
    if args.save:
        np.savez(args.save, logits=np.array(rows), tokens=np.array(tokens))
    if args.stats:
        stats = {
            "device": Device.DEFAULT,
            "tokens": len(times),
            "seconds": total,
            "overall": len(times) / total,
            "steady": steady,
        }
        args.stats.write_text(json.dumps(stats))


if __name__ == "__main__":
    main()
