"""trl: steps of SFT and of DPO, the latter with LoRA, on a small model, against their losses worked out in double precision on the host."""

import copy
import tempfile

import torch
from checked import check, end
from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

RATE, BETA = 1e-2, 0.3
WORDS = "<pad> <s> </s> the a cat dog sees likes tree bird and runs sleeps small green".split()
maker = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<s>"))
maker.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=maker, pad_token="<pad>", bos_token="<s>", eos_token="</s>")
SIZES = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
torch.manual_seed(0)
base = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=len(WORDS), pad_token_id=0, bos_token_id=1, eos_token_id=2, max_position_embeddings=64, **SIZES
    )
)
PAD, END = 0, 2
COMMON = {"max_steps": 2, "per_device_train_batch_size": 2, "learning_rate": RATE, "lr_scheduler_type": "constant", "logging_steps": 1, "report_to": [], "save_strategy": "no", "bf16": False, "gradient_checkpointing": False, "max_grad_norm": 1.0, "disable_tqdm": True, "shuffle_dataset": False}  # fmt: skip


def numbers(text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def likelihoods(model, row, first):
    """Return the logarithm of the likelihood of each word of a row from number `first` on."""
    scores = model(torch.tensor([row])).logits[0, :-1].log_softmax(-1)
    return scores.gather(1, torch.tensor(row[1:])[:, None])[first - 1 :, 0]


def stepped(model, parameters, losses):
    """Take steps of AdamW without decay, norms cut at 1; return the losses."""
    optimizer, found = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.0), []
    for loss in losses:
        optimizer.zero_grad()
        value = loss(model)
        value.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        found.append(float(value))
    return found


def history(trainer):
    return [float(line["loss"]) for line in trainer.state.log_history if "loss" in line]


def in_order(kind):
    class InOrder(kind):
        def _get_train_sampler(self, *given):
            return torch.utils.data.SequentialSampler(self.train_dataset)

    return InOrder


texts = [
    "the cat sees a tree",
    "a small dog likes the bird and runs",
    "the green bird sleeps",
    "a dog sees the cat and the tree",
]
rows = [[*numbers(each), END] for each in texts]


def mean_of(two):
    return lambda model: -torch.cat([likelihoods(model, row, 1) for row in two]).mean()


exact = copy.deepcopy(base).double().train()
losses = stepped(exact, list(exact.parameters()), [mean_of(rows[:2]), mean_of(rows[2:])])
with tempfile.TemporaryDirectory() as folder:
    known = {name: value for name, value in COMMON.items() if name in SFTConfig.__dataclass_fields__}
    arguments = SFTConfig(output_dir=folder, max_length=None, packing=False, **known)
    one = copy.deepcopy(base)
    trainer = in_order(SFTTrainer)(
        model=one, args=arguments, train_dataset=Dataset.from_dict({"text": texts}), processing_class=tokenizer
    )
    trainer.train()
    check("where SFT trained", lambda: float(next(one.parameters()).device.type == "cuda"), 1.0, 0)
    # The log rounds losses to four digits.
    check("losses of SFT", lambda: history(trainer), losses, 1e-3)
    flat = lambda model: torch.cat([each.detach().cpu().double().flatten() for each in model.parameters()])  # noqa: E731
    check("weights after SFT", lambda: flat(one), flat(exact), 2e-3)

asked = ["the cat", "a dog", "the bird", "a small tree"]
good, bad = (
    ["sees a tree", "likes the cat and sleeps", "runs", "and a bird"],
    ["runs and runs", "sees", "likes the green dog", "sleeps"],
)
reference = copy.deepcopy(base).double().eval()


def preferred(two):
    """The loss of DPO (Rafailov et al., equation 7)."""

    def loss(model):
        parts = []
        for at in two:
            one, other = (
                [
                    likelihoods(each, numbers(asked[at]) + numbers(text) + [END], len(numbers(asked[at]))).sum()
                    for each in (model, reference)
                ]
                for text in (good[at], bad[at])
            )
            parts.append(
                -torch.nn.functional.logsigmoid(BETA * ((one[0] - one[1].detach()) - (other[0] - other[1].detach())))
            )
        return sum(parts) / len(parts)

    return loss


with tempfile.TemporaryDirectory() as folder:
    known = {name: value for name, value in COMMON.items() if name in DPOConfig.__dataclass_fields__}
    arguments = DPOConfig(output_dir=folder, beta=BETA, max_length=None, **known)
    pairs = Dataset.from_dict({"prompt": [f"{each} " for each in asked], "chosen": good, "rejected": bad})
    one, before = copy.deepcopy(base), copy.deepcopy(base)
    trainer = in_order(DPOTrainer)(
        model=one, ref_model=before, args=arguments, train_dataset=pairs, processing_class=tokenizer
    )
    trainer.train()
    exact = copy.deepcopy(base).double().train()
    losses = stepped(exact, list(exact.parameters()), [preferred((0, 1)), preferred((2, 3))])
    check("losses of DPO", lambda: history(trainer), losses, 1e-3)
    check("weights after DPO", lambda: flat(one), flat(exact), 2e-3)
    config = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    tuned = in_order(DPOTrainer)(
        model=copy.deepcopy(base), args=arguments, train_dataset=pairs, processing_class=tokenizer, peft_config=config
    )
    tuned.train()
    # Factors begin at zero: the first loss is that of no preference.
    check("the first loss of DPO with LoRA", lambda: history(tuned)[0], 0.6931, 1e-3)
    moved = [each for name, each in tuned.model.named_parameters() if "lora_B" in name]
    check("factors that moved", lambda: float(all(bool(each.any()) for each in moved) and len(moved) == 4), 1.0, 0)
end()
