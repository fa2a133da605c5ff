"""Twenty first operators of TensorFlow in a fresh process: on its CPU backend, on our `cuda` with an empty cache, and again with what that left there.

    ANYWARP_CLIENTS=FOLDER python benchmarks/clients_cold.py [--each]

`scripts/ci clients` makes the folder. Seconds on the clock from the first operator's begin to the last one's result; the start of TensorFlow and the
making of its device come before. Beside them the processor's seconds, of the process from there on and of the compilers, which go on with better code.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def operators() -> dict[str, Callable[[], object]]:
    import tensorflow as tf

    rng = np.random.default_rng(0)
    normal = lambda *shape: tf.constant(rng.standard_normal(shape).astype(np.float32))  # noqa: E731
    a, b, image, filters = normal(256, 256), normal(256, 256), normal(4, 32, 32, 16), normal(3, 3, 16, 32)
    positive, many, places = (
        tf.matmul(a, a, transpose_b=True) + 256 * tf.eye(256),
        normal(64, 1000),
        np.arange(256)[::-1] % 100,
    )
    scale, shift = tf.ones(16), tf.zeros(16)
    return {
        "matmul": lambda: tf.matmul(a, b),
        "add and relu": lambda: tf.nn.relu(a + b),
        "tanh": lambda: tf.tanh(a),
        "gelu": lambda: tf.nn.gelu(a),
        "conv2d": lambda: tf.nn.conv2d(image, filters, 1, "SAME"),
        "max_pool2d": lambda: tf.nn.max_pool2d(image, 2, 2, "VALID"),
        "batch norm": lambda: tf.compat.v1.nn.fused_batch_norm(image, scale, shift)[0],
        "softmax": lambda: tf.nn.softmax(a),
        "cross entropy": lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(places, a),
        "reduce_sum": lambda: tf.reduce_sum(a, 0),
        "argmax": lambda: tf.argmax(a, 1),
        "transpose": lambda: tf.transpose(a),
        "concat": lambda: tf.concat([a, b], 1),
        "gather": lambda: tf.gather(a, places),
        "segment sum": lambda: tf.math.unsorted_segment_sum(a, places, 100),
        "sort": lambda: tf.sort(many),
        "top_k": lambda: tf.math.top_k(many, 10)[0],
        "cumsum": lambda: tf.cumsum(a, 1),
        "random normal": lambda: tf.random.normal((256, 256), seed=1),
        "cholesky": lambda: tf.linalg.cholesky(positive),
    }


def measure(place: str, each: bool) -> None:
    import tensorflow as tf

    with tf.device(f"/{place}:0"):
        tf.zeros(1).numpy()
        made = operators()
        begin, busy = time.perf_counter(), time.process_time()
        for name, compute in made.items():
            once = time.perf_counter()
            np.asarray(compute().numpy())
            if each:
                print(f"  {name:16}{time.perf_counter() - once:8.2f}", flush=True)
        print(
            f"{len(made)} operators: {time.perf_counter() - begin:.2f} s, of the processor {time.process_time() - busy:.2f} s",
            flush=True,
        )


def compilers(cache: str) -> float:
    """Seconds on the processor of the compile service's processes, which have this cache."""
    ticks = 0
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and f"ANYWARP_CACHE_DIR={cache}".encode() in (
                process / "environ"
            ).read_bytes().split(b"\0"):
                ticks += sum(map(int, (process / "stat").read_text().rpartition(") ")[2].split()[11:15]))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", action="store_true", help="a line for each operator")
    parser.add_argument("--here", help="in this process, which anywarp runs already, on this device")
    chosen = parser.parse_args()
    if chosen.here:
        return measure(chosen.here, chosen.each)
    python = Path(os.environ.get("ANYWARP_CLIENTS", ROOT / "build/ci/clients")) / "tensorflow/bin/python"
    with tempfile.TemporaryDirectory() as cache:
        alone = {"ANYWARP_CACHE_DIR": cache, "XDG_RUNTIME_DIR": cache, "TF_CPP_MIN_LOG_LEVEL": "3"}
        for what, place in (("its CPU backend", "CPU"), ("our cuda, nothing kept", "GPU"), ("our cuda, again", "GPU")):
            print(what, flush=True)
            words = [str(python), __file__, "--here", place, *(["--each"] if chosen.each else [])]
            before = compilers(cache)
            subprocess.run([sys.executable, "-m", "anywarp", "run", "--", *words], env=os.environ | alone, check=True)
            print(f"  and of the compilers {compilers(cache) - before:.2f} s", flush=True)


if __name__ == "__main__":
    main()
