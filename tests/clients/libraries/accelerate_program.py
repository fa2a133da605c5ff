"""accelerate: two steps accumulated, in float32 and under autocast, and a model spread by a device map, against double precision on the host."""

import copy

import torch
from accelerate import Accelerator, cpu_offload, dispatch_model
from accelerate.state import AcceleratorState
from checked import check, end

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 48), torch.nn.GELU(), torch.nn.LayerNorm(48), torch.nn.Linear(48, 5))
given, answers = torch.randn(32, 16), torch.randint(5, (32,))


def flat(module):
    return torch.cat([each.detach().cpu().double().flatten() for each in module.parameters()])


def by_hand(rate):
    """Four batches of eight, gradients of two averaged, two steps of SGD with momentum, norms cut at 0.5."""
    exact = copy.deepcopy(model).double()
    optimizer = torch.optim.SGD(exact.parameters(), lr=rate, momentum=0.9)
    for pair in range(2):
        optimizer.zero_grad()
        for batch in (2 * pair, 2 * pair + 1):
            rows = slice(8 * batch, 8 * batch + 8)
            (torch.nn.functional.cross_entropy(exact(given[rows].double()), answers[rows]) / 2).backward()
        torch.nn.utils.clip_grad_norm_(exact.parameters(), 0.5)
        optimizer.step()
    return flat(exact)


def accelerated(rate, **settings):
    AcceleratorState._reset_state(reset_partial_state=True)
    accelerator = Accelerator(gradient_accumulation_steps=2, **settings)
    assert accelerator.device.type == "cuda", accelerator.device
    one = copy.deepcopy(model)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(given, answers), batch_size=8)
    one, optimizer, loader = accelerator.prepare(one, torch.optim.SGD(one.parameters(), lr=rate, momentum=0.9), loader)
    for x, y in loader:
        with accelerator.accumulate(one):
            loss = torch.nn.functional.cross_entropy(one(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(one.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad()
    return flat(one)


for kind, bound in (("no", 1e-5), ("bf16", 5e-3), ("fp16", 2e-3)):
    check(
        f"accumulated steps, mixed precision {kind}",
        lambda kind=kind: accelerated(0.3, mixed_precision=kind),
        by_hand(0.3),
        bound,
    )

wanted = copy.deepcopy(model).double()(given.double()).detach()
spread = {"0": "cuda:0", "1": "cuda:0", "2": "cpu", "3": "cpu"}
check(
    "a model spread over device and host",
    lambda: dispatch_model(copy.deepcopy(model), spread, main_device="cuda:0")(given).detach().cpu(),
    wanted,
    1e-5,
)
check(
    "a model offloaded to the host",
    lambda: cpu_offload(copy.deepcopy(model), "cuda:0")(given).detach().cpu(),
    wanted,
    1e-5,
)
end()
