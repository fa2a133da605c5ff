"""llm.c's train_gpt2.py: GPT-2 of 124 million parameters from scratch on a made token file.

Its weights come from the CPU's generator, so the losses and gradient norms compare with the CPU's.
"""

# pyright: basic
from __future__ import annotations

import os

import numpy
import shakespeare
import tiktoken
from driver import Place, numbers, run
from gpt2_vocabulary import write


def body(place: Place) -> dict[str, object]:
    """Run four steps in float32; two in bfloat16 with its flash switch; sample once."""
    folder = place.copy("llm.c")
    cache = place.work / "tiktoken"
    write(place.source / "whisper" / "whisper" / "assets" / "gpt2.tiktoken", cache)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)
    tokens = tiktoken.get_encoding("gpt2").encode(shakespeare.text(20_000))
    header = numpy.zeros(256, numpy.int32)
    header[:3] = 20240520, 1, len(tokens)
    (folder / "tokens.bin").write_bytes(header.tobytes() + numpy.array(tokens, numpy.uint16).tobytes())
    device = [] if place.device == "cuda" else ["--device", "cpu"]
    common = ["train_gpt2.py", "--model", "d12", "--input_bin", "tokens.bin", "--batch_size", "1", "--sequence_length", "16",
              "--total_batch_size", "32", "--write_tensors", "0", *device]  # fmt: skip
    exact = place.script(folder, *common, "--num_iterations", "4")
    half = place.script(
        folder, *common, "--num_iterations", "2", "--dtype", "bfloat16", "--flash", "1", "--sample_every", "2"
    )
    return {
        "loss": numbers(r"train loss ([\d.]+)", exact),
        "norm": numbers(r"norm ([\d.]+)", exact),
        "loss bfloat16 ~": numbers(r"train loss ([\d.]+)", half),
        "peak memory in MiB ?": numbers(r"peak memory consumption: (\d+)", half),
    }


if __name__ == "__main__":
    run(body)
