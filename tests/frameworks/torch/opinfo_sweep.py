"""Every operator of torch's own database, every dtype that CUDA serves, on `cuda` and on the CPU: equal, refused or wrong.

A table of operators says what is registered; only running them says what is right. The whole sweep takes long, so it runs
by hand, in several processes, and goes on where it stopped; the test suite takes a sample of it (test_ops_sweep.py).

    python tests/frameworks/torch/opinfo_sweep.py OUT.jsonl [--ops NAME ...] [--samples N] [--jobs N] [--again]
    python tests/frameworks/torch/opinfo_sweep.py OUT.jsonl --report
"""

import argparse
import collections
import json
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from queue import Empty, Queue

WIDER = {"float16": "float32", "bfloat16": "float32", "complex32": "complex64"}
BAD = ("wrong", "refused", "crash", "timeout")
NOT_ON_CUDA = ("sparse.mm.reduce",)
"""Entries of the database that claim types of CUDA for an operator that has no kernel there."""
GOOD = ("equal", "close", "random", "unset", "neither", "unchecked")


def load():
    """Put the stand-in in force and return torch and its database; the conftest of this folder does the first part in pytest."""
    from anywarp.frameworks.torch import hook

    hook.install()
    warnings.simplefilter("ignore")
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(1)
    return torch, op_db


def full_name(op):
    """Return the name of an entry of the database with its variant."""
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


class Sweep:
    """Runs samples of operators on both devices and says how the results compare."""

    def __init__(self, torch):
        self.torch = torch

    # -- moving inputs -------------------------------------------------------------------------------------------

    def to_cpu(self, value, memo, wider=False):
        """Return `value` for the CPU: tensors with their strides and shared storages, devices renamed, dtypes widened if asked."""
        torch = self.torch
        if isinstance(value, torch.Tensor):
            if id(value) not in memo:
                memo[id(value)] = self._tensor_to_cpu(value, memo, wider)
            return memo[id(value)]
        if isinstance(value, torch.device):
            return torch.device("cpu")
        if isinstance(value, str) and value.startswith("cuda"):
            return "cpu"
        if wider and isinstance(value, torch.dtype):
            name = str(value).removeprefix("torch.")
            return getattr(torch, WIDER.get(name, name))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self.to_cpu(each, memo, wider) for each in value))
        if isinstance(value, list | tuple):
            return type(value)(self.to_cpu(each, memo, wider) for each in value)
        if isinstance(value, dict):
            return {key: self.to_cpu(each, memo, wider) for key, each in value.items()}
        return value

    def _tensor_to_cpu(self, value, memo, wider):
        torch = self.torch
        base = value.detach()
        name = WIDER.get(str(value.dtype).removeprefix("torch."))
        if wider and name:
            moved = base.cpu().to(getattr(torch, name))
        elif value.layout != torch.strided or value.is_nested or value.is_quantized:
            moved = base.cpu()
        elif value.device.type == "cpu":
            moved = base.clone() if not wider else base
        else:
            storage = base.untyped_storage()
            if storage.data_ptr() not in memo or not storage.data_ptr():
                memo[storage.data_ptr()] = storage.cpu()
            moved = torch.empty(0, dtype=base.dtype).set_(
                memo[storage.data_ptr()], base.storage_offset(), base.shape, base.stride()
            )
            moved = torch._neg_view(moved) if base.is_neg() else moved
            moved = torch._conj(moved) if base.is_conj() else moved
        return moved.requires_grad_() if value.requires_grad else moved

    def leaves(self, value):
        """Return the tensors in nested lists, tuples and dicts, in order."""
        if isinstance(value, self.torch.Tensor):
            return [value]
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list | tuple):
            return [leaf for each in value for leaf in self.leaves(each)]
        return []

    # -- running -------------------------------------------------------------------------------------------------

    def call(self, function, arguments, backward):
        """Return the results of a call and, if asked, the gradients of its inputs; random numbers start anew."""
        torch = self.torch
        torch.manual_seed(7)
        given, args, kwargs = arguments
        results = function(given, *args, **kwargs)
        found = results if isinstance(results, list | tuple | dict) else [results]
        gradients = []
        if backward:
            wanted = [leaf for leaf in self.leaves([given, args, kwargs]) if leaf.requires_grad]
            reached = [leaf for leaf in self.leaves(found) if leaf.requires_grad]
            if wanted and reached:
                torch.manual_seed(8)
                seeds = [self.seed_of(leaf) for leaf in reached]
                gradients = torch.autograd.grad(reached, wanted, seeds, allow_unused=True)
        return [found, list(gradients)]

    def seed_of(self, leaf):
        """Return a gradient that is the same on both devices."""
        torch = self.torch
        if leaf.layout != torch.strided or leaf.is_nested:
            return torch.ones_like(leaf)
        kind = torch.complex64 if leaf.is_complex() else torch.float32
        return torch.randn(leaf.shape, dtype=kind, device="cpu").to(leaf.dtype).to(leaf.device)

    def compare(self, ours, theirs, wide=False):
        """Return "equal", "close" or the words of a difference."""
        torch = self.torch
        verdict = "equal"
        if isinstance(ours, torch.Tensor) or isinstance(theirs, torch.Tensor):
            return self.compare_tensors(ours, theirs, wide)
        if isinstance(ours, dict):
            ours, theirs = list(ours.values()), list(theirs.values())
        if isinstance(ours, list | tuple):
            if len(ours) != len(theirs):
                return f"{len(ours)} results instead of {len(theirs)}"
            for one, other in zip(ours, theirs):
                word = self.compare(one, other, wide)
                if word not in ("equal", "close"):
                    return word
                verdict = word if verdict == "equal" else verdict
            return verdict
        same = ours == theirs or (ours != ours and theirs != theirs) or wide
        if isinstance(ours, torch.device):
            same = ours.type == "cuda"
        return "equal" if same else f"{ours!r:.40} instead of {theirs!r:.40}"

    def compare_tensors(self, ours, theirs, wide):
        torch = self.torch
        if ours is None or theirs is None:
            return f"{type(ours).__name__} instead of {type(theirs).__name__}"
        if ours.shape != theirs.shape:
            return f"shape {tuple(ours.shape)} instead of {tuple(theirs.shape)}"
        if ours.dtype != theirs.dtype and not wide:
            return f"{ours.dtype} instead of {theirs.dtype}"
        if ours.layout != theirs.layout:
            return f"{ours.layout} instead of {theirs.layout}"
        if ours.device.type != "cuda":
            return f"result on {ours.device}"
        ours, theirs = ours.detach().cpu(), theirs.detach()
        if ours.is_nested:
            return self.compare(list(ours.unbind()), list(theirs.unbind()), wide)
        if ours.layout == torch.strided and not wide and self.equal(ours, theirs):
            return "equal"
        theirs = theirs.to(ours.dtype)
        if wide and theirs.numel() and not theirs.to(torch.complex64).isfinite().all():
            return "close"  # out of the narrow type's range somewhere
        narrow = ours.dtype in (torch.float16, torch.bfloat16, torch.complex32)
        limits = {"rtol": 2e-2, "atol": 2e-2 if wide else 4e-3} if wide or narrow else {}
        if wide and ours.dtype.itemsize == 1:
            return "close"
        try:
            torch.testing.assert_close(ours, theirs, equal_nan=True, **limits)
        except (AssertionError, RuntimeError, NotImplementedError) as error:
            return " ".join(str(error).split())[:300]
        return "close"

    def equal(self, ours, theirs):
        """Tell whether two dense tensors of the CPU hold the same values; complex32 has no comparison of its own."""
        torch = self.torch
        if ours.dtype == torch.complex32:
            ours, theirs = torch.view_as_real(ours.resolve_conj()), torch.view_as_real(theirs.resolve_conj())
        return torch.equal(ours, theirs)

    # -- one sample ----------------------------------------------------------------------------------------------

    def judge(self, function, arguments, backward, reference=None):
        """Return (verdict, words) for one call; `reference` is the CPU's function when it differs."""
        reference = reference or function
        memo = {}
        theirs = self.to_cpu(list(arguments), memo)
        wide = self.to_cpu(list(arguments), {}, wider=True)
        error = problem = None
        try:
            ours = self.call(function, arguments, backward)
        except Exception as raised:
            error = raised
        try:
            expected = self.call(reference, theirs, backward)
        except Exception as raised:
            problem = raised
        if error is None and problem is None:
            word = self.compare(ours, expected)
            if word in ("equal", "close"):
                return word, ""
            return self.perhaps_random(reference, theirs, backward, expected, ours, word)
        if error is not None and problem is None:
            return "refused", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        return self.judge_wide(reference, wide, backward, None if error else ours, error, problem)

    def judge_wide(self, reference, wide, backward, ours, error, problem):
        try:
            expected = self.call(reference, wide, backward)
        except Exception:
            return ("neither", str(error)[:200]) if error is not None else ("unchecked", str(problem)[:200])
        if error is not None:
            return "refused", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        word = self.compare(ours, expected, wide=True)
        if word in ("equal", "close"):
            return "close", ""
        return self.perhaps_random(reference, wide, backward, expected, ours, "wide: " + word, True)

    def perhaps_random(self, reference, theirs, backward, expected, ours, word, wide=False):
        """Tell an operator that draws numbers (or leaves memory as it was) from one that is wrong."""
        if not self.compare_shapes(ours, expected, wide):
            return "wrong", word
        state, seed = self.torch.random.get_rng_state(), self.torch.manual_seed
        expected = [leaf.detach().clone() for leaf in self.leaves(expected)]  # the next call may write to them
        try:
            for step in (1000, 2000, 3000, 4000):
                self.torch.manual_seed = lambda number, step=step: seed(number + step)
                if not self.same_values(self.call(reference, theirs, backward), expected):
                    return "random", ""
        except Exception:
            return "wrong", word
        finally:
            self.torch.manual_seed = seed
            self.torch.random.set_rng_state(state)
        return "wrong", word

    def compare_shapes(self, ours, theirs, wide):
        one, other = self.leaves(ours), self.leaves(theirs)
        return len(one) == len(other) and all(
            a.shape == b.shape and (wide or a.dtype == b.dtype) and a.device.type == "cuda" for a, b in zip(one, other)
        )

    def same_values(self, one, other):
        return all(self.equal(a.detach(), b.detach()) for a, b in zip(self.leaves(one), self.leaves(other)))

    # -- one operator --------------------------------------------------------------------------------------------

    def check(self, op, dtype, samples=0, more=True):
        """Return {"counts": {verdict: number}, "examples": [...]} of one operator and dtype."""
        torch = self.torch
        counts, examples = collections.Counter(), []
        backward = op.supports_autograd and dtype in op.supported_backward_dtypes("cuda")
        backward = backward and (dtype.is_floating_point or dtype.is_complex)

        def note(what, verdict, words, index):
            if "empty" in op.name and verdict == "wrong" and "instead of" not in words:
                verdict = "unset"
            counts[verdict] += 1
            if verdict in BAD and sum(each["verdict"] == verdict for each in examples) < 3:
                examples.append({"what": what, "verdict": verdict, "words": words, "sample": index})

        torch.manual_seed(1)
        try:
            drawn = op.sample_inputs("cuda:0", dtype, requires_grad=backward)
            for index, sample in enumerate(drawn):
                if samples and index >= samples:
                    break
                given = (sample.input, sample.args, sample.kwargs)
                copies = self.copies(given)
                note("call", *self.judge(op, given, backward), index)
                if more and index < 2:
                    for what, verdict, words in self.variants(op, dtype, copies):
                        note(what, verdict, words, index)
        except Exception as error:
            note("sample", "refused", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}", -1)
        return {"counts": dict(counts), "examples": examples}

    def copies(self, value):
        """Return the same arguments in memory of their own, without gradients."""
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return value.detach().clone()
        if isinstance(value, list | tuple):
            return type(value)(self.copies(each) for each in value) if not hasattr(value, "_fields") else value
        if isinstance(value, dict):
            return {key: self.copies(each) for key, each in value.items()}
        return value

    def variants(self, op, dtype, given):
        """Yield (what, verdict, words) of out=, in-place, vmap and forward-mode derivatives."""
        torch = self.torch
        if op.supports_out:
            yield "out", *self.judge(self.with_out(op), self.copies(given), False)
        inplace = op.get_inplace()
        if inplace is not None and isinstance(given[0], torch.Tensor):
            verdict, words = self.judge(inplace, self.copies(given), False)
            yield "inplace", verdict, words
        if not isinstance(given[0], torch.Tensor) or not given[0].numel():
            return
        if not op.variant_test_name.startswith("sparse"):
            verdict, words = self.judge(self.mapped(op), self.copies(given), False)
            yield "vmap", verdict, words
        if op.supports_forward_ad and dtype in op.supported_backward_dtypes("cuda"):
            yield "jvp", *self.judge(self.forward(op), self.copies(given), False)

    def with_out(self, op):
        def run(given, *args, **kwargs):
            results = op(given, *args, **kwargs)
            single = isinstance(results, self.torch.Tensor)
            places = [self.torch.empty_like(each) for each in ([results] if single else results)]
            returned = op(given, *args, out=places[0] if single else tuple(places), **kwargs)
            return [places, returned]

        return run

    def mapped(self, op):
        def run(given, *args, **kwargs):
            stacked = self.torch.stack([given, given.clone()])
            return self.torch.vmap(lambda each: op(each, *args, **kwargs), randomness="different")(stacked)

        return run

    def forward(self, op):
        def run(given, *args, **kwargs):
            return self.torch.func.jvp(lambda each: op(each, *args, **kwargs), (given,), (self.torch.ones_like(given),))

        return run


# -- processes -------------------------------------------------------------------------------------------------------


def work(samples):
    """Read `index [dtype ...]` lines from stdin, print one JSON line per dtype: what --worker does."""
    torch, op_db = load()
    sweep = Sweep(torch)
    out = sys.stdout
    sys.stdout = sys.stderr
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        index, *done = line.split()
        op = op_db[int(index)]
        for dtype in sorted(op.supported_dtypes("cuda"), key=str):
            name = str(dtype).removeprefix("torch.")
            if name in done:
                continue
            print(json.dumps({"start": name}), file=out, flush=True)
            found = sweep.check(op, dtype, samples)
            print(json.dumps({"op": full_name(op), "dtype": name, **found}), file=out, flush=True)
        print(json.dumps({"end": int(index)}), file=out, flush=True)


def serve(todo, write, samples, limit):
    """Keep one worker busy until nothing is left to do; a worker that dies or hangs costs one dtype of one operator."""
    worker = lines = None
    while True:
        try:
            index, name, done = todo.get_nowait()
        except Empty:
            if worker:
                worker.stdin.close()
            return
        if worker is None:
            worker, lines = start(samples)
            lines.get(timeout=120)
        worker.stdin.write(" ".join([str(index), *done]) + "\n")
        worker.stdin.flush()
        current = None
        while True:
            try:
                line = lines.get(timeout=limit)
            except Empty:
                line = None
            if line is None:
                verdict = "timeout" if worker.poll() is None else "crash"
                worker.kill()
                worker = None
                if current:
                    example = {"what": "call", "verdict": verdict, "words": verdict, "sample": -1}
                    write({"op": name, "dtype": current, "counts": {verdict: 1}, "examples": [example]})
                    todo.put((index, name, [*done, current]))
                break
            if "start" in line:
                current = line["start"]
            elif "end" in line:
                break
            elif "op" in line:
                done = [*done, line["dtype"]]
                write(line)


def start(samples):
    """Start a worker; its lines arrive in a queue, None when it has ended."""
    command = [sys.executable, __file__, "-", "--worker", "--samples", str(samples)]
    worker = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    lines = Queue()

    def read():
        for line in worker.stdout:
            lines.put(json.loads(line))
        worker.wait()
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return worker, lines


def sweep_all(path, names, samples, jobs, limit, again):
    """Run what `path` does not hold yet and append it."""
    _, op_db = load()
    known = collections.defaultdict(list)
    if path.exists() and not again:
        for line in path.read_text().splitlines():
            each = json.loads(line)
            known[each["op"]].append(each["dtype"])
    todo, lock, begun = Queue(), threading.Lock(), time.time()
    for index, op in enumerate(op_db):
        name = full_name(op)
        if name in NOT_ON_CUDA or (names and name not in names and op.name not in names):
            continue
        if len(set(known[name])) < len(op.supported_dtypes("cuda")):
            todo.put((index, name, known[name]))
    total = todo.qsize()
    with path.open("w" if again else "a") as file:

        def write(line):
            with lock:
                file.write(json.dumps(line) + "\n")
                file.flush()

        threads = [threading.Thread(target=serve, args=(todo, write, samples, limit)) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(5)
            print(
                f"\r{total - todo.qsize()} of {total} operators, {time.time() - begun:.0f} s", end="", file=sys.stderr
            )
    print(file=sys.stderr)


def report(path, wanted=40):
    """Print shares of all samples, and the commonest refusals and differences."""
    counts, why = collections.Counter(), collections.defaultdict(collections.Counter)
    rows = {}
    for line in path.read_text().splitlines():
        each = json.loads(line)
        rows[each["op"], each["dtype"]] = each
    for each in rows.values():
        counts.update(each["counts"])
        for bad in each["examples"]:
            why[bad["verdict"]][each["op"], bad["what"], bad["words"][:150]] += each["counts"][bad["verdict"]]
    total = sum(counts.values())
    print(f"{total} samples of {len(rows)} pairs of operator and dtype")
    for verdict in (*GOOD, *BAD):
        print(f"  {verdict:10} {counts[verdict]:7}  {counts[verdict] / max(total, 1):8.3%}")
    for verdict in BAD:
        for (op, what, words), number in why[verdict].most_common(wanted):
            print(f"{verdict} {number:5} {op} ({what}): {words}")


def main():
    """Parse, then sweep, report or work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--ops", nargs="*", default=[])
    parser.add_argument("--samples", type=int, default=0, help="at most so many of each operator and dtype; 0: all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=90, help="seconds for one operator and dtype")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--wanted", type=int, default=40)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.samples)
        return
    if not given.report:
        sweep_all(given.out, given.ops, given.samples, given.jobs, given.limit, given.again)
    report(given.out, given.wanted)


if __name__ == "__main__":
    main()
