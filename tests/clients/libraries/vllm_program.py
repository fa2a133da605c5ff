"""vLLM's engine and its server: greedy text of a small random model, against transformers in float64 on the host.

Requests of several lengths at once, more than run together; prompts in chunks; a prefix that was seen; a LoRA adapter; half precision; two devices.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import torch
from checked import check, end

WORDS = 320
PROMPTS = [[1, 5, 9, 33], [1, *range(40, 100)], [1, 7], [1, *range(200, 230)], [1, *range(40, 90), 3, 3]]


def make_model(folder):
    """Write a random model of two layers, whose logits lie far enough apart for float32, and an adapter for it."""
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=WORDS, hidden_size=128, intermediate_size=192, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=256, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False,
    )  # fmt: skip
    model = LlamaForCausalLM(config).float()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.15)
    model.save_pretrained(folder / "model")
    adapted = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj", "down_proj"]))
    for name, parameter in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    adapted.save_pretrained(folder / "adapter")


def shortfall(folder, prompt, words, adapter=False):
    """Return, for each word, how far its logit is below the best one's, of the model in float64 after the words before it."""
    from transformers import LlamaForCausalLM

    model = LlamaForCausalLM.from_pretrained(folder / "model", dtype=torch.float32)
    if adapter:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, folder / "adapter")
    model = model.double().eval()
    with torch.no_grad():
        logits = model(torch.tensor([prompt + words])).logits[0, len(prompt) - 1 : -1]
    return (logits.max(-1)[0] - logits[torch.arange(len(words)), torch.tensor(words)]).tolist()


def compare(name, folder, found, bound, **of):
    """The words are the best ones: none is below the best by more than `bound`, what rounding may change."""
    for prompt, words in zip(PROMPTS, found, strict=True):
        assert len(words) == 12, words
        worst = max(shortfall(folder, prompt, words, **of))
        check(f"{name}, {len(prompt)} words", lambda worst=worst: [1.0 + worst], [1.0], bound)


def engine(folder, **options):
    from vllm import LLM

    return LLM(
        model=str(folder / "model"), skip_tokenizer_init=True, max_model_len=128, gpu_memory_utilization=0.1, max_num_seqs=3, **options
    )  # fmt: skip


def generate(llm, **of):
    from vllm import SamplingParams

    greedy = SamplingParams(temperature=0, max_tokens=12, ignore_eos=True, detokenize=False)
    outputs = llm.generate([{"prompt_token_ids": each} for each in PROMPTS], greedy, use_tqdm=False, **of)
    return [list(each.outputs[0].token_ids) for each in outputs], outputs


def whole(folder):
    """As it is by default: compiled, in graphs, in float32, whose attention is Triton's."""
    compare("as by default", folder, generate(engine(folder, dtype="float32"))[0], 1e-4)


def parts(folder):
    """Without compilation, in bfloat16 (FlashAttention): chunks, the prefix cache, an adapter, samples."""
    from vllm import SamplingParams
    from vllm.lora.request import LoRARequest

    llm = engine(
        folder, dtype="bfloat16", enforce_eager=True, max_num_batched_tokens=32, enable_lora=True, max_lora_rank=8,
        enable_prefix_caching=True,
    )  # fmt: skip
    plain, _ = generate(llm)
    compare("bfloat16", folder, plain, 0.1)
    again, outputs = generate(llm)
    compare("bfloat16, prefixes kept", folder, again, 0.1)
    check("words of the prefix cache", lambda: [float(outputs[1].num_cached_tokens >= 48)], [1.0], 0)
    found, _ = generate(llm, lora_request=LoRARequest("adapter", 1, str(folder / "adapter")))
    check("an adapter changes words", lambda: [float(found != plain)], [1.0], 0)
    compare("an adapter", folder, found, 0.1, adapter=True)
    seeded = SamplingParams(
        temperature=1.0, top_k=5, top_p=0.9, seed=3, max_tokens=12, detokenize=False, ignore_eos=True, logprobs=5
    )
    drawn = [llm.generate([{"prompt_token_ids": PROMPTS[0]}], seeded, use_tqdm=False)[0].outputs[0] for _ in range(2)]
    check("a seed's words", lambda: list(drawn[0].token_ids), list(drawn[1].token_ids), 0)
    ranks = [step[word].rank for step, word in zip(drawn[0].logprobs, drawn[0].token_ids, strict=True)]
    check("samples among the best", lambda: [float(max(ranks) <= 5)], [1.0], 0)


def two(folder):
    """Two devices, each with half of every layer, compiled."""
    llm = engine(folder, dtype="float32", tensor_parallel_size=2)
    compare("two devices", folder, generate(llm)[0], 1e-4)


def served(folder):
    """The server that answers as OpenAI's does, asked for words by their numbers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder / "model"), "--skip-tokenizer-init", "--port", str(port),
        "--host", "127.0.0.1", "--dtype", "float32", "--max-model-len", "128", "--gpu-memory-utilization", "0.1", "--max-num-seqs", "3",
        "--enforce-eager",
    ]  # fmt: skip
    server = subprocess.Popen(command)
    try:
        wait_for(port, server)
        found = [ask(port, folder, prompt) for prompt in PROMPTS]
    finally:
        server.terminate()
        server.wait(60)
    compare("served", folder, found, 1e-4)


def wait_for(port, server):
    for _ in range(200):
        assert server.poll() is None, "the server ended"
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
            return
        except OSError:
            time.sleep(1)
    raise TimeoutError("the server does not answer")


def ask(port, folder, prompt):
    body = {
        "model": str(folder / "model"), "prompt": prompt, "max_tokens": 12, "temperature": 0, "ignore_eos": True, "return_token_ids": True,
        "detokenize": False,
    }  # fmt: skip
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["choices"][0]["token_ids"]


PARTS = {each.__name__: each for each in (whole, parts, two, served)}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        PARTS[sys.argv[1]](Path(sys.argv[2]))
        end()
    with tempfile.TemporaryDirectory() as place:
        make_model(Path(place))
        own = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CACHE_ROOT": f"{place}/cache", "HOME": place}
        for name in PARTS:  # an engine keeps its memory: one per process
            devices = {"ANYWARP_DEVICES": "2"} if name == "two" else {}
            ran = subprocess.run([sys.executable, __file__, name, place], env={**os.environ, **own, **devices})
            check(name, lambda ran=ran: [float(ran.returncode)], [0.0], 0)
    end()
