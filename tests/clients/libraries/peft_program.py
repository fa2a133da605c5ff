"""peft: steps of LoRA on a small model, merged and saved, against low-rank factors worked out by hand in double precision."""

import copy
import tempfile

import torch
from checked import check, end
from peft import LoraConfig, PeftModel, get_peft_model

torch.manual_seed(0)
RANK, ALPHA = 4, 8


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(12, 24), torch.nn.Linear(24, 6)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


base, given, target = Net(), torch.randn(20, 12), torch.randn(20, 6)
config = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=["first"], lora_dropout=0.0)
tuned = get_peft_model(copy.deepcopy(base), config).cuda()
layer = tuned.base_model.model.first
below, above = (
    part["default"].weight.detach().cpu().double().requires_grad_() for part in (layer.lora_A, layer.lora_B)
)
assert not above.any() and below.any(), "a factor of zeros and one of random numbers"

exact = copy.deepcopy(base).double()


def low_rank(x):
    inner = torch.nn.functional.linear(x, exact.first.weight + ALPHA / RANK * above @ below, exact.first.bias)
    return exact.second(torch.tanh(inner))


ours = torch.optim.AdamW([each for each in tuned.parameters() if each.requires_grad], lr=1e-2, weight_decay=0.0)
theirs = torch.optim.AdamW([below, above], lr=1e-2, weight_decay=0.0)
for _ in range(5):
    for optimizer, model, x, y in (
        (ours, tuned, given.cuda(), target.cuda()),
        (theirs, low_rank, given.double(), target.double()),
    ):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
wanted = low_rank(given.double()).detach()
check("five steps of LoRA", lambda: tuned(given.cuda()).detach().cpu().double(), wanted, 1e-4)
check("the base stays", lambda: layer.base_layer.weight.detach().cpu(), base.first.weight.detach(), 0)
with tempfile.TemporaryDirectory() as folder:
    tuned.save_pretrained(folder)
    again = PeftModel.from_pretrained(copy.deepcopy(base).cuda(), folder)
    check("saved and loaded", lambda: again(given.cuda()).detach().cpu().double(), wanted, 1e-4)
check("merged", lambda: copy.deepcopy(tuned).merge_and_unload()(given.cuda()).detach().cpu().double(), wanted, 1e-4)
end()
