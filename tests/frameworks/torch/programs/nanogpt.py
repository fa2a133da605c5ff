"""nanoGPT: train.py (plain, compiled, resumed), bench.py and sample.py on a small character model.

The usual first program of a new user; it uses autocast, fused AdamW, pinned copies, checkpoints and torch.compile.
"""

# pyright: basic
from __future__ import annotations

from pathlib import Path

import shakespeare
from driver import Place, numbers, run

SIZES = [
    "--dataset=shakespeare_char", "--batch_size=4", "--block_size=32", "--n_layer=2", "--n_head=2", "--n_embd=32",
    "--gradient_accumulation_steps=2", "--eval_interval=10", "--eval_iters=4", "--lr_decay_iters=20", "--warmup_iters=2",
    "--learning_rate=1e-2", "--dropout=0.0",
]  # fmt: skip


def prepare(place: Place) -> Path:
    """Copy the program and prepare its character data out of our own text."""
    folder = place.copy("nanoGPT")
    data = folder / "data" / "shakespeare_char"
    if not (data / "train.bin").exists():
        (data / "input.txt").write_text(shakespeare.text(200_000))
        place.script(folder, "data/shakespeare_char/prepare.py")
        (folder / "data" / "openwebtext" / "train.bin").write_bytes((data / "train.bin").read_bytes())
    return folder


def train(place: Place, folder: Path, *more: str) -> list[float]:
    """Run train.py and return the loss of every iteration and evaluation."""
    device = [] if place.device == "cuda" else ["--device=cpu"]
    text = place.script(folder, "train.py", *SIZES, *device, *more)
    return numbers(r"loss ([\d.]+)", text)


def body(place: Place) -> dict[str, object]:
    """Train in float32 and in bfloat16, resume, compile, then bench and sample."""
    folder = prepare(place)
    exact = ["--dtype=float32", "--compile=False"]
    values: dict[str, object] = {
        "train": train(place, folder, *exact, "--max_iters=20"),
        "resume": train(place, folder, *exact, "--max_iters=25", "--init_from=resume"),
    }
    device = [] if place.device == "cuda" else ["--device=cpu"]
    text = place.script(
        folder,
        "sample.py",
        "--out_dir=out",
        "--num_samples=2",
        "--max_new_tokens=40",
        "--dtype=float32",
        "--top_k=1",
        *device,
    )
    values["sample"] = text[text.index("Loading meta") :].split("\n", 1)[1]
    values["train bfloat16 ~"] = train(
        place, folder, "--compile=False", "--max_iters=10", "--dtype=bfloat16", "--out_dir=b"
    )
    return values


if __name__ == "__main__":
    run(body)
