"""Hugging Face transformers: greedy generation and the Trainer on `cuda`, against the same in double precision on the host."""

import copy
import tempfile

import torch
from checked import check, end
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

assert torch.cuda.is_available()
torch.manual_seed(0)
SIZES = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
model = LlamaForCausalLM(LlamaConfig(vocab_size=64, max_position_embeddings=64, **SIZES)).eval()
words = torch.randint(3, 64, (3, 9))


def greedy(exact, words, count):
    """Append the likeliest word, `count` times, without a cache."""
    for _ in range(count):
        words = torch.cat([words, exact(words).logits[:, -1].argmax(-1, keepdim=True)], 1)
    return words


exact = copy.deepcopy(model).double()
given = {"max_new_tokens": 12, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
there = copy.deepcopy(model).cuda()
asked = {"input_ids": words.cuda(), "attention_mask": torch.ones_like(words).cuda()}
with torch.no_grad():
    check("logits", lambda: there(words.cuda()).logits.cpu().double(), exact(words).logits, 1e-5)
    check("greedy generation", lambda: there.generate(**asked, **given).cpu(), greedy(exact, words, 12), 0)
    check(
        "generation with a static cache",
        lambda: there.generate(**asked, **given, cache_implementation="static", disable_compile=True).cpu(),
        greedy(exact, words, 12),
        0,
    )

STEPS, RATE = 6, 1e-2
rows = torch.randint(3, 64, (STEPS * 4, 10))


def by_hand(exact):
    """Take the Trainer's steps as its manual states them: AdamW, no decay, a rate that falls linearly to nothing, norms cut at 1."""
    exact.train()
    optimizer = torch.optim.AdamW(exact.parameters(), lr=RATE, weight_decay=0.0)
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = RATE * (STEPS - step) / STEPS
        part = rows[4 * step : 4 * step + 4]
        scores = exact(part).logits[:, :-1]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(scores.reshape(-1, 64), part[:, 1:].reshape(-1)).backward()
        torch.nn.utils.clip_grad_norm_(exact.parameters(), 1.0)
        optimizer.step()
    return torch.cat([each.detach().flatten() for each in exact.parameters()])


class InOrder(Trainer):
    """The Trainer, which shuffles by default."""

    def _get_train_sampler(self, *given):
        return torch.utils.data.SequentialSampler(self.train_dataset)


wanted = by_hand(copy.deepcopy(exact))
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        max_steps=STEPS,
        learning_rate=RATE,
        report_to=[],
        save_strategy="no",
        logging_steps=1,
    )
    data = [{"input_ids": row, "labels": row} for row in rows]
    trained = copy.deepcopy(model)
    trainer = InOrder(model=trained, args=arguments, train_dataset=data)
    trainer.train()
    check("the Trainer's device", lambda: float(trained.device.type == "cuda"), 1.0, 0)
    found = torch.cat([each.detach().cpu().double().flatten() for each in trained.parameters()])
    check("six steps of the Trainer", lambda: found, wanted, 2e-3)
    trainer.save_model(folder)
    again = LlamaForCausalLM.from_pretrained(folder, device_map="cuda")
    with torch.no_grad():
        check("saved and loaded", lambda: again(words.cuda()).logits.cpu(), trained(words.cuda()).logits.cpu(), 1e-6)
end()
