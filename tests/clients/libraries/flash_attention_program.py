"""transformers with attn_implementation="flash_attention_2", which anywarp answers when it is asked to: padded rows, gradients and generation in bfloat16."""

import copy
import os

os.environ["ANYWARP_NEIGHBOURS"] = "flash_attn"
import torch
from checked import check, end
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM
from transformers.utils import is_flash_attn_2_available

check("asked whether it is there", lambda: float(is_flash_attn_2_available()), 1.0, 0)
SIZES = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 64,
}
torch.manual_seed(0)
words = torch.randint(3, 64, (2, 12))
mask = torch.ones_like(words)
mask[1, :5] = 0  # the second row is padded on its left
kept = mask[..., None].bool()


def alone(exact, rows, first=(0, 5)):
    """Logits of each row by itself, without its padding: positions count relative to each other only."""
    parts = [exact(row[None, begin:]).logits for row, begin in zip(rows, first)]
    return torch.cat([torch.nn.functional.pad(each, (0, 0, rows.shape[1] - each.shape[1], 0)) for each in parts])


for title, config, kind in (
    ("Llama", LlamaConfig(**SIZES), LlamaForCausalLM),
    ("Mistral with a window", MistralConfig(**SIZES, sliding_window=4), MistralForCausalLM),
):
    base = kind(config).bfloat16()
    exact = copy.deepcopy(base).double()
    exact.set_attn_implementation("eager")
    there = copy.deepcopy(base).cuda()
    there.set_attn_implementation("flash_attention_2")
    wanted = alone(exact, words)
    found = there(words.cuda(), attention_mask=mask.cuda()).logits
    check(f"{title}: logits", lambda found=found: found.detach().cpu().double() * kept, wanted.detach(), 3e-2)
    weight = torch.randn(wanted.shape, dtype=torch.float64) * kept
    (wanted * weight).sum().backward()
    (found * weight.cuda().bfloat16()).sum().backward()
    for name in ("model.layers.0.self_attn.q_proj", "model.layers.1.self_attn.k_proj", "model.embed_tokens"):
        one, other = there.get_submodule(name).weight.grad, exact.get_submodule(name).weight.grad
        check(f"{title}: gradient of {name}", lambda one=one: one.cpu().double(), other, 6e-2)
    with torch.no_grad():
        made = there.generate(
            words.cuda(),
            attention_mask=mask.cuda(),
            max_new_tokens=6,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        ).cpu()
        # In bfloat16 words may tie: each has nearly the largest score, by the words before it.
        scores = alone(exact, made)[:, 11:-1]
        lost = scores.max(-1).values - scores.gather(-1, made[:, 12:, None])[..., 0]
        check(
            f"{title}: generated words",
            lambda lost=lost, scores=scores: float(lost.max() / scores.abs().max()),
            0.0,
            3e-2,
        )
end()
