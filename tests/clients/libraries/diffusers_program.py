"""diffusers: pipelines of a small UNet with random weights, unconditional and with text, against the schedulers' formulas in double precision on the host."""

import copy

import torch
from checked import check, end
from diffusers import (
    AutoencoderKL,
    DDIMPipeline,
    DDIMScheduler,
    DDPMPipeline,
    DDPMScheduler,
    UNet2DConditionModel,
    UNet2DModel,
)

torch.manual_seed(0)
STEPS = 5
net = UNet2DModel(
    sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(32, 64), norm_num_groups=8,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
).eval()  # fmt: skip
start = torch.randn(2, 3, 16, 16)
exact = copy.deepcopy(net).double()
betas = torch.linspace(1e-4, 0.02, 1000, dtype=torch.float64)
kept = torch.cumprod(1 - betas, 0)


@torch.no_grad()
def ddim(noise_of, x):
    """DDIM without noise (Song et al., equation 12), every 200th step, clean pictures clamped to one."""
    for at in range(1000 - 1000 // STEPS, -1, -(1000 // STEPS)):
        before = kept[at - 1000 // STEPS] if at >= 1000 // STEPS else torch.tensor(1.0, dtype=torch.float64)
        noise = noise_of(x, at)
        clean = ((x - (1 - kept[at]).sqrt() * noise) / kept[at].sqrt()).clamp(-1, 1)
        x = before.sqrt() * clean + (1 - before).sqrt() * noise
    return x


def piped(**settings):
    """Run the pipeline from the same first noise, which it would draw."""
    pipeline = DDIMPipeline(copy.deepcopy(net), DDIMScheduler(set_alpha_to_one=True)).to("cuda")
    pipeline.set_progress_bar_config(disable=True)
    import diffusers.pipelines.ddim.pipeline_ddim as owner

    drawn, owner.randn_tensor = owner.randn_tensor, lambda *_, device, **__: start.to(device)
    try:
        pictures = pipeline(batch_size=2, num_inference_steps=STEPS, eta=0.0, output_type="np", **settings).images
    finally:
        owner.randn_tensor = drawn
    return torch.tensor(pictures).permute(0, 3, 1, 2).double() * 2 - 1


schedule = DDIMScheduler(set_alpha_to_one=True)
assert schedule.config.steps_offset == 0 and schedule.config.beta_schedule == "linear" and schedule.config.clip_sample
wanted = ddim(lambda x, at: exact(x, at).sample, start.double()).clamp(-1, 1)
check("a pipeline of DDIM", piped, wanted, 1e-4)

noise, times = torch.randn(2, 3, 16, 16), torch.tensor([10, 700])
there, scheduler = copy.deepcopy(net).cuda().train(), DDPMScheduler()
noisy = scheduler.add_noise(start.cuda(), noise.cuda(), times.cuda())
at = kept[times].reshape(2, 1, 1, 1)
mixed = at.sqrt() * start.double() + (1 - at).sqrt() * noise.double()
check("noise added", lambda: noisy.cpu().double(), mixed, 1e-5)
torch.nn.functional.mse_loss(there(noisy, times.cuda()).sample, noise.cuda()).backward()
torch.nn.functional.mse_loss(exact.train()(mixed, times).sample, noise.double()).backward()
largest = max(float(each.grad.abs().max()) for each in exact.parameters() if each.grad is not None)
for name, one in there.named_parameters():
    other = exact.get_parameter(name).grad
    error = float((one.grad.cpu().double() - other).abs().max()) / largest
    if error > 1e-4:
        check(f"gradient of {name}", lambda error=error: error, 0.0, 1e-4)
check(
    "gradients compared",
    lambda: float(sum(1 for each in there.parameters() if each.grad is not None)),
    float(len(list(exact.parameters()))),
    0,
)

text = UNet2DConditionModel(
    sample_size=8, in_channels=4, out_channels=4, layers_per_block=1, block_out_channels=(32, 64), norm_num_groups=8, cross_attention_dim=16,
    attention_head_dim=8, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
).eval()  # fmt: skip
latent, words = torch.randn(1, 4, 8, 8), torch.randn(1, 6, 16)
with torch.no_grad():
    wanted = copy.deepcopy(text).double()(latent.double(), 321, words.double()).sample
    check(
        "a net with text",
        lambda: copy.deepcopy(text).cuda()(latent.cuda(), 321, words.cuda()).sample.cpu().double(),
        wanted,
        1e-5,
    )
    half = copy.deepcopy(text).cuda().bfloat16()
    check(
        "the same in bfloat16",
        lambda: half(latent.cuda().bfloat16(), 321, words.cuda().bfloat16()).sample.cpu().double(),
        wanted,
        5e-2,
    )
    coder = AutoencoderKL(
        block_out_channels=(32, 32),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=8,
    ).eval()
    wanted = copy.deepcopy(coder).double().decode(latent.double()).sample
    check(
        "pictures of latents",
        lambda: copy.deepcopy(coder).cuda().decode(latent.cuda()).sample.cpu().double(),
        wanted,
        1e-5,
    )
    tiled = copy.deepcopy(coder).cuda()
    tiled.enable_slicing()
    check(
        "in slices", lambda: tiled.decode(latent.cuda().expand(3, -1, -1, -1)).sample[2:].cpu().double(), wanted, 1e-5
    )
random = DDPMPipeline(copy.deepcopy(net), DDPMScheduler()).to("cuda")
random.set_progress_bar_config(disable=True)
twice = [
    torch.tensor(
        random(
            batch_size=1, num_inference_steps=2, generator=torch.Generator("cuda").manual_seed(3), output_type="np"
        ).images
    )
    for _ in range(2)
]
check("a seed gives its picture", lambda: twice[0].double(), twice[1].double(), 0)
end()
