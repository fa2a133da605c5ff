"""One model of embedding, blocks and head, as one process has it and over two ranks (gloo): tensor parallel, FSDP, DDP, and in two stages of a pipeline, which take the batch
at once or in parts; and, with plain tensors, over a mesh of two by two: the batch along its second axis, columns and rows along its first.

sharded_model.py MEETING HOW [DEFECT]     MEETING: a file for the ranks to meet; HOW: whole, tensor, fsdp, ddp, ddp_in_parts, stages, stages_in_parts or mesh
"""

import os
import sys

import torch
import torch.distributed as distributed
from torch import nn

WORDS, WIDTH, RANKS = 31, 16, 2


def ranks(how):
    return {"whole": 1, "mesh": 4}.get(how, RANKS)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.summed(self.down(torch.relu(self.up(self.norm(x)))))

    def summed(self, x):
        return x


class Small(nn.Module):
    """Parts that another rank has are None."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleDict({"0": Block(), "1": Block()})
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, x):
        if self.words is not None:
            x = self.words(x)
        for block in self.blocks.values():
            x = block(x)
        return x if self.head is None else self.head(x)


def tensor(model, rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    plan = {
        "blocks.*.up": ColwiseParallel(),
        "blocks.*.down": RowwiseParallel(),
        "head": ColwiseParallel(output_layouts=Replicate()),
    }
    return parallelize_module(model, init_device_mesh("cpu", (RANKS,)), plan)


def fsdp(model, rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (RANKS,))
    for block in model.blocks.values():
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def ddp(model, rank):
    return nn.parallel.DistributedDataParallel(model)


def stages(model, rank):
    if rank == 0:
        model.head = None
        del model.blocks["1"]
    else:
        model.words = None
        del model.blocks["0"]
    return model


stages_in_parts, ddp_in_parts = stages, ddp


def mesh(model, rank):
    columns = rank // 2
    group = [distributed.new_group([each, each + 2]) for each in range(2)][rank % 2]  # its columns and rows

    def summed(x):
        out = x.clone()
        distributed.all_reduce(out, group=group)
        return out

    for block in model.blocks.values():
        block.summed = summed
        block.up.weight.data = block.up.weight.data.chunk(2)[columns].clone()
        block.up.bias.data = block.up.bias.data.chunk(2)[columns].clone()
        block.down.weight.data = block.down.weight.data.chunk(2, 1)[columns].clone()
        if columns:
            block.down.bias = None
    return model


def through_stages(model, rank, x):
    if rank == 1:
        x = torch.empty(*x.shape, WIDTH)
        distributed.recv(x, 0)
    out = model(x)
    if rank == 0:
        distributed.send(out, 1)


def spoil(model, defect):
    """Have one module of this rank compute something else, or hold other weights."""
    name, _, what = defect.partition(":")
    module = model.get_submodule(name)
    if what == "weight":
        with torch.no_grad():
            local = module.weight.to_local() if hasattr(module.weight, "to_local") else module.weight
            local[0, 0] += 1
        return
    forward = module.forward
    module.forward = lambda *args: forward(*args) * 1.02


def work(rank, meeting, how, defect):
    torch.set_num_threads(1)
    torch.manual_seed(rank)  # of no consequence: Small seeds itself
    if how != "whole":
        distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks(how))
    model = Small()
    if how != "whole":
        model = globals()[how](model, rank)
    if (defect and rank == 1) or (defect and how == "whole"):
        spoil(getattr(model, "module", model), defect)
    x = torch.randint(WORDS, (4, 5), generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        parts = x.chunk(2) if how.endswith("in_parts") else [x]
        for part in parts:
            if how.startswith("stages"):
                through_stages(model, rank, part)
            elif how.startswith(("ddp", "fsdp")):
                model(part.chunk(RANKS)[rank])
            else:
                model(part.chunk(2)[rank % 2] if how == "mesh" else part)
    if how != "whole":
        distributed.destroy_process_group()


if __name__ == "__main__":
    meeting, how, *defect = sys.argv[1:]
    if os.path.exists(meeting):
        os.unlink(meeting)
    if how == "whole":
        work(0, meeting, how, "".join(defect))
    else:
        import torch.multiprocessing as processes

        processes.spawn(work, (meeting, how, "".join(defect)), nprocs=ranks(how))
