"""DeepSpeed: its engine at ZeRO 0 to 3 on one rank and on two, and its own FusedAdam and CPUAdam built by `anywarp nvcc`, against double precision on the host.

Without arguments it starts itself under torch.distributed.run for each; a rank prints what is wrong.
"""

import os
import subprocess
import sys
import tempfile

import torch
from checked import check, end

STEPS, RATE, DECAY = 3, 1e-2, 0.1


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, 40), torch.nn.GELU(), torch.nn.Linear(40, 6))


def data():
    draw = torch.Generator().manual_seed(1)
    return torch.randn(STEPS, 8, 16, generator=draw), torch.randn(STEPS, 8, 6, generator=draw)


def by_hand():
    """AdamW by its formula (Loshchilov and Hutter, algorithm 2), over the whole batch, norms cut at 1."""
    exact = model().double()
    numbers = list(exact.parameters())
    mean, square = ([torch.zeros_like(each) for each in numbers] for _ in range(2))
    for step, (x, y) in enumerate(zip(*data()), 1):
        slopes = torch.autograd.grad(torch.nn.functional.mse_loss(exact(x.double()), y.double()), numbers)
        norm = torch.sqrt(sum((each**2).sum() for each in slopes))
        for at, (number, slope) in enumerate(zip(numbers, slopes)):
            slope = slope / norm if norm > 1 else slope
            mean[at] = 0.9 * mean[at] + 0.1 * slope
            square[at] = 0.999 * square[at] + 0.001 * slope**2
            change = (mean[at] / (1 - 0.9**step)) / ((square[at] / (1 - 0.999**step)).sqrt() + 1e-8)
            with torch.no_grad():
                number -= RATE * (change + DECAY * number)
    return torch.cat([each.detach().flatten() for each in numbers])


def rank(stage, offload):
    import deepspeed

    deepspeed.init_distributed()
    ranks = torch.distributed.get_world_size()
    mine = slice(torch.distributed.get_rank() * 8 // ranks, (torch.distributed.get_rank() + 1) * 8 // ranks)
    settings = {
        "train_micro_batch_size_per_gpu": 8 // ranks,
        "gradient_clipping": 1.0,
        "optimizer": {"type": "AdamW", "params": {"lr": RATE, "weight_decay": DECAY}},
        "zero_optimization": {"stage": stage} | ({"offload_optimizer": {"device": "cpu"}} if offload else {}),
    }
    engine, *_ = deepspeed.initialize(model=model(), config=settings)
    assert engine.device.type == "cuda", engine.device
    for x, y in zip(*data()):
        engine.backward(torch.nn.functional.mse_loss(engine(x[mine].to(engine.device)), y[mine].to(engine.device)))
        engine.step()
    with deepspeed.zero.GatheredParameters(list(engine.module.parameters()), enabled=stage == 3):
        found = torch.cat([each.detach().cpu().double().flatten() for each in engine.module.parameters()])
    check(
        f"ZeRO {stage}{', optimizer offloaded' if offload else ''}, {type(engine.optimizer).__name__}, {ranks} ranks",
        lambda: found,
        by_hand(),
        2e-4,
    )
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    end()


def fused():
    from deepspeed.ops.adam import FusedAdam

    one = model().cuda()
    optimizer = FusedAdam(one.parameters(), lr=RATE, weight_decay=DECAY)
    for x, y in zip(*data()):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(one(x.cuda()), y.cuda()).backward()
        torch.nn.utils.clip_grad_norm_(one.parameters(), 1.0)
        optimizer.step()
    return torch.cat([each.detach().cpu().double().flatten() for each in one.parameters()])


if len(sys.argv) > 1:
    rank(int(sys.argv[1]), sys.argv[2] == "1")
built = tempfile.TemporaryDirectory()
os.environ |= {"TORCH_EXTENSIONS_DIR": built.name, "OMP_NUM_THREADS": "1"}
check("FusedAdam, compiled here", fused, by_hand(), 2e-5)
for ranks in (1, 2):
    for stage, offload in ((0, 0), (1, 0), (2, 0), (3, 0), (2, 1)):
        command = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            f"--nproc_per_node={ranks}",
            __file__,
            str(stage),
            str(offload),
        ]
        ran = subprocess.run(command, capture_output=True, text=True)
        print(
            "".join(f"  {line}\n" for line in ran.stdout.splitlines() if ": right" in line or "WRONG" in line), end=""
        )
        if ran.returncode:
            print(ran.stdout[-1500:], ran.stderr[-3000:])
        check(f"ZeRO {stage}, offload {offload}, on {ranks} ranks", lambda ran=ran: ran.returncode, 0, 0)
end()
