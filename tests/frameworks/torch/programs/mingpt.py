"""minGPT's adder project: training with DataLoader workers, greedy generation, checkpoint.

The model's dropout draws on the device, where CUDA's numbers differ from the CPU's; the compared run has it off.
"""

# pyright: basic
from __future__ import annotations

import os

from driver import Place, numbers, run


def body(place: Place) -> dict[str, object]:
    """Train the adder for 60 iterations without and with dropout."""
    folder = place.copy("minGPT")
    search = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    values: dict[str, object] = {}
    for label, dropout in (("adder", "0.0"), ("adder with dropout ?", "0.1")):
        rates = [f"--model.{each}_pdrop={dropout}" for each in ("embd", "resid", "attn")]
        text = place.script(
            folder, "projects/adder/adder.py", "--trainer.max_iters=61", *rates, environment={"PYTHONPATH": search}
        )
        assert f"running on device {place.device}" in text
        values[label] = numbers(r"train loss ([\d.]+)", text)
        values[label.replace("adder", "adder score", 1)] = numbers(r"final score: (\d+)/", text)
    return values


if __name__ == "__main__":
    run(body)
