"""denoising-diffusion-pytorch: a small U-Net's loss and gradients, DDIM sampling, and the package's own Trainer.

The loss takes its noise as an argument, so it compares; what the package draws itself on the device does not.
"""

# pyright: basic
from __future__ import annotations

import os
import sys

from driver import Place, digest, run


def trainer(place: Place, diffusion: object) -> dict[str, object]:
    """Train two steps from a folder of pictures and sample, as the package's README has it."""
    import torch
    from denoising_diffusion_pytorch import Trainer
    from PIL import Image

    pictures = place.work / "pictures"
    pictures.mkdir()
    for index in range(100):
        pixels = torch.randint(0, 256, (16, 16, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(index))
        Image.fromarray(pixels.numpy()).save(pictures / f"{index}.png")
    worker = Trainer(
        diffusion, str(pictures), train_batch_size=16, train_num_steps=2, save_and_sample_every=2, num_samples=4,
        calculate_fid=False, results_folder=str(place.work / "results"), ema_update_every=1,
    )  # fmt: skip
    assert worker.device.type == place.device
    worker.train()
    worker.load(1)
    return {"files": sorted(os.listdir(place.work / "results")), "step": worker.step}


def body(place: Place) -> dict[str, object]:
    """Compare loss and gradients, sample, and run the Trainer."""
    sys.path.insert(0, str(place.copy("denoising-diffusion-pytorch")))
    import torch
    from denoising_diffusion_pytorch import GaussianDiffusion, Unet

    torch.manual_seed(1)
    model = Unet(dim=16, dim_mults=(1, 2), flash_attn=True)
    diffusion = GaussianDiffusion(model, image_size=16, timesteps=20, sampling_timesteps=5).to(place.device)
    pictures, noise = torch.rand(4, 3, 16, 16), torch.randn(4, 3, 16, 16)
    times = torch.tensor([1, 5, 11, 19], device=place.device)
    loss = diffusion.p_losses(pictures.to(place.device), times, noise=noise.to(place.device))
    loss.backward()
    gradients = torch.cat([each.grad.flatten() for each in model.parameters() if each.grad is not None])
    values: dict[str, object] = {"loss": loss.item(), "gradients": digest(gradients)}
    sample = diffusion.sample(batch_size=2)
    values["sample ?"] = digest(sample)
    return values | trainer(place, diffusion)


if __name__ == "__main__":
    run(body)
