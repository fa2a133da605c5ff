"""pytorch/examples imagenet with `--dummy`: ResNet-18, DataLoader workers, pinned memory, DataParallel.

Weights are drawn on the CPU and the pictures in the workers, from the seed: the losses compare.
"""

# pyright: basic
from __future__ import annotations

from driver import Place, numbers, run


def body(place: Place) -> dict[str, object]:
    """Train until the fifth batch has been printed; the script itself would take days."""
    folder = place.copy("examples") / "imagenet"
    accel = [] if place.device == "cuda" else ["--no-accel"]
    text = place.script(
        folder, "main.py", "--dummy", "-a", "resnet18", "-b", "4", "-j", "1", "-p", "1", "--seed", "3", "--lr", "0.001", *accel,
        until=r"^Epoch: \[0\]\[ *5/",
    )  # fmt: skip
    assert f"Using device: {place.device}" in text
    return {"loss": numbers(r"Loss ([\d.e+]+)", text)}


if __name__ == "__main__":
    run(body)
