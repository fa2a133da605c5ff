"""pytorch/examples dcgan with `--dataset fake`: convolutions, transposed convolutions, batch norm, Adam.

Its weights and noise are drawn on the device, so only finiteness and the course of the losses can be asked for.
"""

# pyright: basic
from __future__ import annotations

from driver import Place, numbers, run


def body(place: Place) -> dict[str, object]:
    """Train until the sixth batch has been printed."""
    folder = place.copy("examples") / "dcgan"
    accel = ["--accel"] if place.device == "cuda" else []
    text = place.script(
        folder, "main.py", "--dataset", "fake", "--batchSize", "8", "--ngf", "16", "--ndf", "16", "--imageSize", "64",
        "--workers", "1", "--manualSeed", "7", *accel, until=r"\]\[5/",
    )  # fmt: skip
    assert f"Using device: {place.device}" in text
    return {"loss of D ?": numbers(r"Loss_D: ([\d.]+)", text), "loss of G ?": numbers(r"Loss_G: ([\d.]+)", text)}


if __name__ == "__main__":
    run(body)
