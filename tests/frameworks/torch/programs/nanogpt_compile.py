"""nanoGPT's train.py with torch.compile, as its defaults have it.

Apart from the eager run, since a compiler that is missing or refuses must not hide what eager does.
"""

# pyright: basic
from __future__ import annotations

from driver import Place, run
from nanogpt import prepare, train


def body(place: Place) -> dict[str, object]:
    """Train the small model compiled."""
    folder = prepare(place)
    return {"train compiled": train(place, folder, "--dtype=float32", "--max_iters=10")}


if __name__ == "__main__":
    run(body)
