"""DiT: one training step and deterministic sampling of DiT-S/8, then its sample.py with random weights.

sample.py loads a variational autoencoder by name; a folder of that name with random weights lies beside it.
"""

# pyright: basic
from __future__ import annotations

import sys
from pathlib import Path

from driver import Place, digest, run


def step_and_sample(place: Place, model: object, noise: object) -> dict[str, object]:
    """Compare a training step and five DDIM steps with classifier-free guidance."""
    import torch
    from diffusion import create_diffusion

    labels = torch.tensor([1, 7], device=place.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0)
    losses = []
    for turn in range(3):
        times = torch.tensor([10 + turn, 900], device=place.device)
        terms = create_diffusion("").training_losses(model, noise * 0.5, times, {"y": labels}, noise=noise)
        loss = terms["loss"].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    doubled = torch.cat([noise, noise])
    guided = {"y": torch.tensor([1, 7, 1000, 1000], device=place.device), "cfg_scale": 4.0}
    sample = create_diffusion("ddim5").ddim_sample_loop(
        model.forward_with_cfg, doubled.shape, doubled, clip_denoised=False, model_kwargs=guided, device=place.device
    )
    return {"losses": losses, "sample": digest(sample)}


def autoencoder(folder: Path) -> None:
    """Save a small random autoencoder where sample.py looks for the published one."""
    from diffusers.models import AutoencoderKL

    kinds = {"down_block_types": ("DownEncoderBlock2D",) * 4, "up_block_types": ("UpDecoderBlock2D",) * 4}
    AutoencoderKL(block_out_channels=(8, 8, 8, 8), norm_num_groups=4, latent_channels=4, **kinds).save_pretrained(
        folder
    )


def body(place: Place) -> dict[str, object]:
    """Run both parts; the script also chooses the device itself."""
    folder = place.copy("DiT")
    sys.path.insert(0, str(folder))
    import torch
    from models import DiT_models

    torch.manual_seed(1)
    model = DiT_models["DiT-S/8"](input_size=32, num_classes=1000)
    for each in model.parameters():  # its own zeros at the ends would make every output zero
        torch.nn.init.normal_(each, std=0.02)
    torch.save(model.state_dict(), folder / "random.pt")
    noise = torch.randn(2, 4, 32, 32)
    model.y_embedder.dropout_prob = 0.0  # drawn on the device otherwise
    values = step_and_sample(place, model.to(place.device), noise.to(place.device))
    autoencoder(folder / "stabilityai" / "sd-vae-ft-mse")
    place.script(
        folder,
        "sample.py",
        "--model",
        "DiT-S/8",
        "--image-size",
        "256",
        "--num-sampling-steps",
        "5",
        "--ckpt",
        "random.pt",
    )
    values["picture"] = (folder / "sample.png").read_bytes()[:4].hex()
    return values


if __name__ == "__main__":
    run(body)
