"""nanoGPT's bench.py: 30 training steps of its 124-million-parameter model, on tiny batches.

The program fixes the model's size; it has no form for the CPU, so the losses only have to fall.
"""

# pyright: basic
from __future__ import annotations

from driver import Place, numbers, run
from nanogpt import prepare


def body(place: Place) -> dict[str, object]:
    """Run the script once, eager and in float32."""
    folder = prepare(place)
    if place.device == "cpu":  # the script calls torch.cuda.synchronize and pin_memory whatever its device is
        return {}
    text = place.script(folder, "bench.py", "--batch_size=1", "--block_size=16", "--compile=False", "--dtype=float32")
    return {"bench ?": numbers(r"loss: ([\d.]+)", text)}


if __name__ == "__main__":
    run(body)
