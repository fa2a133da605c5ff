"""torchrun with two processes and backend nccl: DDP and FSDP2 equal to one process, and programs that are written for it.

Cases: equal (our small training, three forms), examples (pytorch/examples), nanogpt, dit. Two devices are asked for.
"""

# pyright: basic
from __future__ import annotations

import re
from pathlib import Path

import nanogpt
from dit import autoencoder
from driver import Place, numbers, run

TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
PROGRAM = str(Path(__file__).with_name("parallel_training.py"))


def equal(place: Place) -> dict[str, object]:
    """Train alone and in two processes; they must print the same numbers."""
    seen = {"alone": place.script(place.work, PROGRAM, "alone", place.device)}
    for form in ("ddp", "fsdp2"):
        seen[form] = place.script(place.work, PROGRAM, form, place.device, launcher=TORCHRUN)
    found = {form: numbers(r"(?:loss|weights) ([\d.]+)", text) for form, text in seen.items()}
    for form in ("ddp", "fsdp2"):
        assert len(found[form]) == 6, seen[form]
        differences = [abs(left - right) for left, right in zip(found[form], found["alone"], strict=True)]
        assert max(differences) < 1e-3, f"{form} differs from one process: {found}"
    place.log[:] = [each.replace(PROGRAM, Path(PROGRAM).name) for each in place.log]
    return dict(found)


def examples(place: Place) -> dict[str, object]:
    """Run pytorch/examples' DDP, FSDP2 (plain, and mixed precision with a checkpoint) and tensor parallel examples."""
    if place.device == "cpu":  # they end at once without two accelerators
        return {}
    folder = place.copy("examples") / "distributed"
    ddp = place.script(folder / "ddp", "example.py", launcher=TORCHRUN)
    fsdp = folder / "FSDP2"
    place.script(fsdp, "example.py", launcher=TORCHRUN)
    place.script(fsdp, "example.py", "--mixed-precision", "--explicit-prefetching", launcher=TORCHRUN)
    tensor = place.script(folder / "tensor_parallelism", "tensor_parallel_example.py", launcher=TORCHRUN)
    assert "Unable to locate" not in ddp
    return {
        "ddp ?": [float(ddp.count("training completed in rank"))],
        "backend": sorted(set(re.findall(r"backend=(\w+)", ddp))),
        "checkpoints ?": [float(len(list((fsdp / "checkpoints").rglob("*.pt"))))],
        "tensor parallel ?": [float(tensor.count("iter 9 completed"))],
    }


def nanogpt_ddp(place: Place) -> dict[str, object]:
    """Train nanoGPT in two processes; its device is cuda:LOCAL_RANK whatever is asked."""
    if place.device == "cpu":
        return {}
    folder = nanogpt.prepare(place)
    exact = ["--dtype=float32", "--compile=False", "--max_iters=10"]
    return {
        "losses ?": numbers(
            r"loss ([\d.]+)", place.script(folder, "train.py", *nanogpt.SIZES, *exact, launcher=TORCHRUN)
        )
    }


def dit(place: Place) -> dict[str, object]:
    """Train DiT-S/8 with its train.py, DDP on two processes, from a folder of pictures."""
    if place.device == "cpu":  # it asserts that there is a GPU
        return {}
    from PIL import Image

    folder = place.copy("DiT")
    autoencoder(folder / "stabilityai" / "sd-vae-ft-ema")
    for index in range(8):
        target = folder / "pictures" / str(index % 2)
        target.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (256, 256), (index * 30, 90, 200 - index * 20)).save(target / f"{index}.png")
    text = place.script(
        folder, "train.py", "--model", "DiT-S/8", "--data-path", "pictures", "--global-batch-size", "4", "--epochs", "2",
        "--log-every", "1", "--num-workers", "0", "--num-classes", "10", launcher=TORCHRUN,
    )  # fmt: skip
    assert "Done!" in text
    return {"losses ?": numbers(r"Train Loss: ([\d.]+)", text)}


def body(place: Place) -> dict[str, object]:
    """Run one case."""
    return {"equal": equal, "examples": examples, "nanogpt": nanogpt_ddp, "dit": dit}[place.case](place)


if __name__ == "__main__":
    run(body)
