"""The measured process: loads a model and calls it as often as it is told, over a private socket; its own output stays its own.

    python -m anywarp.check.bench.measured SOCKET

One JSON object a line in each direction. Started by torchrun there are several: the first rank speaks, the others do the same as it, and each
call begins together. PyTorch is imported here and in no other module of this folder, so that the measuring process stays small.
"""

# pyright: basic
from __future__ import annotations

import contextlib
import hashlib
import json
import resource
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anywarp import settings
from anywarp.diagnostics import AnywarpError

FIRST_ATTEMPT = 1 << 20
"""Below the numbers (TORCHELASTIC_RESTART_COUNT) of measured processes of a rank that the user's own torchrun started; its own stay far below."""

PACKAGES = ("torch", "triton", "transformers", "vllm", "sglang", "numpy", "onnxruntime")
"""Packages whose versions are told where the process has imported them."""

END, CALLS, MEMORY = 0, 1, 2


class Model:
    """A model on its device with its inputs, ready to be called."""

    def __init__(self, spec: dict[str, Any]) -> None:
        import torch

        from anywarp.frameworks.export import inputs, loading  # NumPy: as heavy as what is measured anyhow

        self.torch, self.spec, self.device = torch, spec, _device(torch, spec["device"])
        if not torch.distributed.is_initialized() and spec.get("threads"):
            torch.set_num_threads(spec["threads"])
        self.ranks = _joined(torch, self.device)
        module: Any = loading.load(spec["model"], Path(spec["weights"]) if spec["weights"] else None)
        if hasattr(module, "module") and not isinstance(module, torch.nn.Module):
            module = module.module()  # of an exported program
        self.digest = _digest(torch, module, spec["model"], spec["weights"])
        self.dtype = getattr(torch, spec["dtype"]) if spec["dtype"] else None
        module = module.to(self.device, self.dtype) if self.dtype else module.to(self.device)
        arrays = inputs.samples(inputs.read(spec["inputs"]), spec["sizes"], seed=0)
        self.inputs = {name: self._input(array) for name, array in arrays.items()}
        self.call: Any = torch.compile(module) if spec["compile"] else module
        self.graph: Any = None

    def _input(self, array: Any) -> Any:
        tensor = self.torch.from_numpy(array).to(self.device)
        return tensor.to(self.dtype) if self.dtype and tensor.is_floating_point() else tensor

    def once(self) -> int:
        """Call the model once; return nanoseconds from the call to when its device is done."""
        self._together()
        self._wait()
        start = time.perf_counter_ns()
        if self.graph is not None:
            self.graph.replay()
        else:
            self.call(**self.inputs)
        self._wait()
        return time.perf_counter_ns() - start

    def capture(self) -> None:
        """Capture a call as a CUDA graph, which the further calls replay."""
        torch = self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.call(**self.inputs)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.call(**self.inputs)
        self.graph = graph

    def _wait(self) -> None:
        if self.device.type != "cpu":
            getattr(self.torch, self.device.type).synchronize()

    def _together(self) -> None:
        if self.ranks > 1:
            self.torch.distributed.barrier(group=_control)

    def memory(self) -> list[int]:
        """Return the peaks of the process's memory and of the device's, allocated and reserved, in bytes."""
        found = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, 0, 0]
        if self.device.type == "cuda":
            found[1:] = self.torch.cuda.max_memory_allocated(), self.torch.cuda.max_memory_reserved()
        return found

    def about(self) -> dict[str, Any]:
        """Return what says which model this is, on what it runs, and by which software."""
        torch = self.torch
        name = torch.cuda.get_device_name() if self.device.type == "cuda" else self.device.type
        found = {p: str(getattr(sys.modules[p], "__version__", "")) for p in PACKAGES if p in sys.modules}
        return {
            "digest": self.digest, "device_name": name, "ranks": self.ranks, "threads": torch.get_num_threads(),
            "versions": {"python": ".".join(map(str, sys.version_info[:3])), **found},
            "tf32": bool(torch.backends.cuda.matmul.allow_tf32) if self.device.type == "cuda" else False,
            "parameter_dtypes": sorted({str(p.dtype).removeprefix("torch.") for p in getattr(self.call, "parameters", list)()}),
        }  # fmt: skip


_control: Any = None
"""The group of ranks over which they agree, apart from the model's own."""


def _joined(torch: Any, device: Any) -> int:
    """Join the other ranks where torchrun started this process; return their number."""
    global _control
    environment = settings.environment()
    if "RANK" not in environment or not torch.distributed.is_available():
        return 1
    if not torch.distributed.is_initialized():
        if device.type == "cuda":
            torch.cuda.set_device(int(environment.get("LOCAL_RANK", "0")))
        backend = "nccl" if device.type == "cuda" else "gloo"
        torch.distributed.init_process_group(backend, **_meeting(torch.distributed, environment))
        _control = torch.distributed.new_group(backend="gloo")
    return torch.distributed.get_world_size()


def _meeting(distributed: Any, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return where the ranks of the user's own torchrun meet: its store outlives one measured process, and would tell the addresses of the last.

    PyTorch puts no number of the attempt before names in the agent's store any more (rendezvous.py, `_create_c10d_store`). Nothing for our own torchrun.
    """
    attempt = int(environment.get("TORCHELASTIC_RESTART_COUNT", "0"))
    if attempt < FIRST_ATTEMPT or environment.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return {}
    rank, count = int(environment["RANK"]), int(environment["WORLD_SIZE"])
    store = distributed.TCPStore(environment["MASTER_ADDR"], int(environment["MASTER_PORT"]), count, False)
    return {"store": distributed.PrefixStore(f"anywarp-bench-{attempt}", store), "rank": rank, "world_size": count}


def _device(torch: Any, name: str) -> Any:
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"PyTorch {torch.__version__} sees no CUDA device in this process")
    return torch.device(name)


def _digest(torch: Any, module: Any, text: str, weights: str) -> str:
    """Return a digest of the model: its source file, its file of weights, and names, types and shapes of parameters and buffers.

    Not their values: a model that is not seeded has others in each process, and takes the same time.
    """
    digest = hashlib.sha256()
    place = text if text.endswith(".pt2") else text.rpartition(":")[0]
    for each in (place, weights):
        if each.endswith((".py", ".pt2", ".safetensors")):
            with open(each, "rb") as file:
                for block in iter(lambda: file.read(1 << 20), b""):
                    digest.update(block)
    if hasattr(module, "state_dict"):
        for name, value in sorted(module.state_dict().items()):
            if not isinstance(value, torch.Tensor):
                continue
            digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
    return digest.hexdigest()[:32]


class Rank:
    """What the first rank is told by the measuring process, and the others by the first."""

    def __init__(self, model: Model, rank: int) -> None:
        self.model, self.rank = model, rank

    def told(self, what: int, count: int) -> tuple[int, int]:
        """Return what all ranks are to do: what the first one says."""
        if self.model.ranks == 1:
            return what, count
        torch = self.model.torch
        order = torch.tensor([what, count], dtype=torch.int64)
        torch.distributed.broadcast(order, 0, group=_control)
        return int(order[0]), int(order[1])

    def numbers(self, what: int, count: int) -> list[list[int]]:
        """Make `count` calls and return the nanoseconds of each, or return the peaks of memory; per rank."""
        own = [self.model.once() for _ in range(count)] if what == CALLS else self.model.memory()
        return [own] if self.model.ranks == 1 else self._gathered(own)

    def _gathered(self, own: list[int]) -> list[list[int]]:
        torch = self.model.torch
        mine = torch.tensor(own, dtype=torch.int64)
        every = [torch.empty_like(mine) for _ in range(self.model.ranks)]
        torch.distributed.all_gather(every, mine, group=_control)
        return [each.tolist() for each in every]


def _speak(model: Model, channel: Any) -> None:
    """Do what the measuring process says, until it says no more."""
    rank = Rank(model, 0)
    for line in channel:
        order = json.loads(line)
        if "calls" in order:
            _send(channel, {"times": rank.numbers(*rank.told(CALLS, int(order["calls"])))})
        elif "memory" in order:
            _send(channel, {"memory": rank.numbers(*rank.told(MEMORY, 0))})
        else:
            break
    rank.told(END, 0)


def _follow(model: Model, number: int) -> None:
    """Do what the first rank is told."""
    rank = Rank(model, number)
    while (order := rank.told(END, 0))[0] != END:
        rank.numbers(*order)


def _send(channel: Any, message: dict[str, Any]) -> None:
    channel.write(json.dumps(message) + "\n")
    channel.flush()


def serve(place: str) -> int:
    """Connect to the measuring process, load what it names, and be measured; return the exit code."""
    rank = int(settings.environment().get("RANK", "0"))
    with contextlib.ExitStack() as stack:
        channel: Any = None
        if rank == 0:
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(place)
            channel = stack.enter_context(connection.makefile("rw", encoding="utf-8"))
            _send(channel, {"connected": True})
        spec: dict[str, Any] = json.loads(Path(place).with_name("spec.json").read_text(encoding="utf-8"))
        try:
            started = time.perf_counter_ns()
            import torch

            imported = time.perf_counter_ns()
            with torch.inference_mode():
                model = Model(spec)
                loaded = time.perf_counter_ns()
                first = [model.once()]
                if spec["graphs"]:
                    model.capture()
                if rank:
                    _follow(model, rank)
                    return 0
                about = {**model.about(), "import_ns": imported - started, "load_ns": loaded - imported}
                _send(channel, {"ready": about, "first": first[0]})
                _speak(model, channel)
        except AnywarpError as error:
            return _failed(channel, error.diagnostic.message, error.diagnostic.help)
        except Exception as error:
            return _failed(channel, f"{type(error).__name__}: {error}", "")
        finally:
            if "torch" in sys.modules and sys.modules["torch"].distributed.is_initialized():
                sys.modules["torch"].distributed.destroy_process_group()
    return 0


def _failed(channel: Any, text: str, help: str) -> int:
    if channel is None:
        print(f"rank {settings.environment().get('RANK')}: {text}", file=sys.stderr)
    else:
        with contextlib.suppress(OSError):
            _send(channel, {"failed": text[:4000], "help": help})
    return 2


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1]))
