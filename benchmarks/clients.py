"""Clients of NVIDIA's libraries: the same work on the client's own CPU backend and on our `cuda`, in turns, on one thread.

    ANYWARP_CLIENTS=FOLDER python benchmarks/clients.py [CLIENT...]

`scripts/ci clients` makes the folder. Each client runs in its environment, under `anywarp run`, pinned to one processor. A warm-up comes first; of
each side the best round counts. Times are the process's own on the processor, all of its threads together: other work beside does not count, nor
does waiting. The ratio is ours over the client's own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
REBOUND = {"ctranslate2"}
Case = tuple[str, Callable[[], object], Callable[[], object]]
"""What is done, by the client's CPU backend and on `cuda`."""

rng = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def ctranslate2() -> Iterator[Case]:
    import ctranslate2 as library

    sys.path.append(str(ROOT / "tests/clients/libraries"))
    import random_layers

    random_layers.WIDTH = 512
    with tempfile.TemporaryDirectory() as folder:
        words = random_layers.translator(folder, layers=6, heads=8, count=8000)
        sources = [[f"w{i}" for i in rng.integers(0, words, 24)] for _ in range(8)]
        for host, ours in (("float32", "float32"), ("int8", "int8"), ("float32", "float16"), ("float32", "bfloat16")):
            made = [
                library.Translator(folder, device=device, compute_type=kind, intra_threads=1)
                for device, kind in (("cpu", host), ("cuda", ours))
            ]

            def translate(translator, beam):
                return translator.translate_batch(
                    sources, beam_size=beam, max_decoding_length=24, min_decoding_length=24
                )

            name = ours if host == ours else f"{ours} (its own in {host})"
            for beam in (1, 4):
                calls = [lambda each=each, beam=beam: translate(each, beam) for each in made]
                yield f"translation, beam {beam}, {name}", *calls
            calls = [lambda each=each: each.score_batch(sources, sources) for each in made]
            yield f"scores, {name}", *calls


def faiss() -> Iterator[Case]:
    import faiss as library

    library.omp_set_num_threads(1)
    base, asked = normal(20000, 128), normal(256, 128)
    exact = library.IndexFlatL2(128)
    exact.add(base)
    inverted = library.IndexIVFFlat(library.IndexFlatL2(128), 128, 100)
    inverted.train(base)
    inverted.add(base)
    resources = library.StandardGpuResources()
    for name, index in (("exact search", exact), ("inverted search", inverted)):
        moved = library.index_cpu_to_gpu(resources, 0, index)
        if index is inverted:
            index.nprobe = moved.nprobe = 8
        for count in (1, 256):
            given = asked[:count]
            yield (
                f"{name}, {count} queries",
                lambda given=given, index=index: index.search(given, 10),
                lambda given=given, moved=moved: moved.search(given, 10),
            )


def onnxruntime() -> Iterator[Case]:
    import onnxruntime as library
    from onnx import TensorProto, helper, numpy_helper

    node = helper.make_node

    def session(nodes, shape, weights, provider):
        made = [numpy_helper.from_array(value, name) for name, value in weights.items()]
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("x", shape), ("y", None))
        ]
        graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], made)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        chosen = library.SessionOptions()
        chosen.intra_op_num_threads = chosen.inter_op_num_threads = 1
        return library.InferenceSession(model.SerializeToString(), chosen, providers=[provider])

    def case(name, nodes, shape, weights):
        x = normal(*shape)
        made = [session(nodes, shape, weights, f"{each}ExecutionProvider") for each in ("CPU", "CUDA")]
        return name, *(lambda each=each: each.run(None, {"x": x}) for each in made)

    weights, nodes, last = {}, [], "x"
    for i, (into, out, stride) in enumerate(((3, 32, 2), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1))):
        weights |= {f"w{i}": normal(out, into, 3, 3) / 20, f"b{i}": normal(out)}
        nodes += [
            node("Conv", [last, f"w{i}", f"b{i}"], [f"c{i}"], pads=[1] * 4, strides=[stride] * 2),
            node("Relu", [f"c{i}"], [f"r{i}"]),
        ]
        last = f"r{i}"
    nodes += [
        node("GlobalAveragePool", [last], ["a"]),
        node("Flatten", ["a"], ["f"]),
        node("MatMul", ["f", "h"], ["y"]),
    ]
    weights["h"] = normal(128, 100)
    for batch in (1, 8):
        yield case(f"convolutions, batch {batch}", nodes, [batch, 3, 112, 112], weights)
    width, heads = 512, 8
    split = helper.make_tensor("s", TensorProto.INT64, [4], [0, 0, heads, width // heads])
    join = helper.make_tensor("j", TensorProto.INT64, [3], [0, 0, width])
    nodes = [node("Constant", [], ["split"], value=split), node("Constant", [], ["join"], value=join)]
    for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes += [
            node("MatMul", ["x", f"w{name}"], [f"p{name}"]),
            node("Reshape", [f"p{name}", "split"], [f"r{name}"]),
            node("Transpose", [f"r{name}"], [name], perm=order),
        ]
    nodes += [
        node("MatMul", ["q", "k"], ["scores"]), node("Mul", ["scores", "scale"], ["scaled"]), node("Softmax", ["scaled"], ["shares"]),
        node("MatMul", ["shares", "v"], ["mixed"]), node("Transpose", ["mixed"], ["back"], perm=[0, 2, 1, 3]), node("Reshape", ["back", "join"], ["joined"]),
        node("MatMul", ["joined", "wo"], ["projected"]), node("Add", ["projected", "x"], ["sum"]), node("LayerNormalization", ["sum", "g", "b"], ["normed"]),
        node("MatMul", ["normed", "w1"], ["wide"]), node("Relu", ["wide"], ["relu"]), node("MatMul", ["relu", "w2"], ["y"]),
    ]  # fmt: skip
    weights = {f"w{name}": normal(width, width) / 22 for name in "qkvo"}
    weights |= {
        "scale": np.float32(0.125).reshape(()),
        "g": np.ones(width, np.float32),
        "b": np.zeros(width, np.float32),
    }
    weights |= {"w1": normal(width, 4 * width) / 22, "w2": normal(4 * width, width) / 45}
    for batch in (1, 8):
        yield case(f"layer of a transformer, batch {batch}", nodes, [batch, 64, width], weights)


def tensorflow() -> Iterator[Case]:
    import tensorflow as library
    from tensorflow import keras

    library.config.threading.set_intra_op_parallelism_threads(1)
    library.config.threading.set_inter_op_parallelism_threads(1)

    def on(place, make):
        with library.device(f"/{place}:0"):
            return make()

    def step(layers, x, y):
        net, rule, loss_of = keras.Sequential(layers()), keras.optimizers.SGD(0.01), keras.losses.MeanSquaredError()
        x, y = library.constant(x), library.constant(y)
        net(x)

        @library.function
        def train():
            with library.GradientTape() as tape:
                loss = loss_of(y, net(x, training=True))
            rule.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
            return loss

        return train

    def run(place, train):
        return on(place, lambda: train().numpy())

    kinds = keras.layers

    def convolutional():
        return [
            kinds.Conv2D(32, 3, activation="relu"),
            kinds.MaxPooling2D(),
            kinds.Conv2D(64, 3, activation="relu"),
            kinds.Flatten(),
            kinds.Dense(10),
        ]

    def recurrent():
        return [kinds.LSTM(128), kinds.Dense(10)]

    def dense():
        return [kinds.Dense(1024, activation="gelu"), kinds.LayerNormalization(), kinds.Dense(10)]

    for name, layers, x in (
        ("convolutional network", convolutional, normal(16, 32, 32, 3)),
        ("LSTM", recurrent, normal(16, 32, 64)),
        ("dense network", dense, normal(64, 1024)),
    ):
        y = normal(len(x), 10)
        calls = []
        for place in ("CPU", "GPU"):
            train = on(place, lambda layers=layers, x=x, y=y: step(layers, x, y))
            calls.append(lambda place=place, train=train: run(place, train))
        yield f"training step, {name}", *calls
    a, b = normal(512, 512), normal(512, 512)
    made = [on(place, lambda: [library.constant(each) for each in (a, b)]) for place in ("CPU", "GPU")]
    calls = [lambda given=given: library.matmul(*given).numpy() for given in made]
    yield "product, n = 512", *calls


CLIENTS = {each.__name__: each for each in (ctranslate2, faiss, onnxruntime, tensorflow)}


def measure(client: str, seconds: float) -> None:
    """Print a line for each case: milliseconds on the client's CPU backend and on ours, and the ratio."""
    for name, theirs, ours in CLIENTS[client]():
        best = [float("inf")] * 2
        for call in (theirs, ours):
            begin = time.perf_counter()
            while time.perf_counter() - begin < seconds / 4:
                call()
        begin = time.perf_counter()
        while time.perf_counter() - begin < seconds:
            for at, call in enumerate((theirs, ours)):
                start = time.process_time()
                call()
                best[at] = min(best[at], time.process_time() - start)
        print(f"{client:12} {name:48} {best[0] * 1e3:9.2f} {best[1] * 1e3:9.2f}   {best[1] / best[0]:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("clients", nargs="*", default=list(CLIENTS))
    parser.add_argument("--seconds", type=float, default=8, help="how long each case is measured")
    parser.add_argument("--here", action="store_true", help="in this process, which anywarp runs already")
    chosen = parser.parse_args()
    if chosen.here:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        return measure(chosen.clients[0], chosen.seconds)
    folder = Path(os.environ.get("ANYWARP_CLIENTS", ROOT / "build/ci/clients"))
    print("client       work                                                its, ms  ours, ms   ratio", flush=True)
    for client in chosen.clients:
        python = folder / client / "bin/python"
        if not python.exists():
            print(f"{client}: no environment in {folder}")
            continue
        rebind = ["--rebind"] if client in REBOUND else []
        words = [str(python), __file__, "--here", client, "--seconds", str(chosen.seconds)]
        alone = {"ANYWARP_THREADS": "1", "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "2"}
        subprocess.run(
            [sys.executable, "-m", "anywarp", "run", *rebind, "--", *words], env=os.environ | alone, check=True
        )


if __name__ == "__main__":
    main()
