"""Apex's interface as anywarp answers it, against its formulas in double precision."""

import pytest
import torch

from anywarp.frameworks.neighbours.answers import apex_multi_tensor as several
from anywarp.frameworks.neighbours.answers import apex_norms as norms
from anywarp.frameworks.neighbours.answers import apex_optimizers as optimizers


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def by_definition(x, weight, bias, centred, eps=1e-5):
    """A norm over the last two dimensions."""
    if centred:
        x = x - x.mean((-2, -1), keepdim=True)
    x = x / (x.pow(2).mean((-2, -1), keepdim=True) + eps).sqrt() * weight
    return x + bias if centred else x


@pytest.mark.parametrize("kind, bound", [(torch.float32, 1e-5), (torch.bfloat16, 3e-2)])
@pytest.mark.parametrize("layer", ["FusedLayerNorm", "FusedRMSNorm", "MixedFusedLayerNorm", "MixedFusedRMSNorm"])
def test_norms_and_their_gradients(layer, kind, bound):
    x, weight, bias, back = (
        drawn(*shape, seed=seed).to(kind) for seed, shape in enumerate([(3, 4, 5), (4, 5), (4, 5), (3, 4, 5)])
    )
    made, centred = getattr(norms, layer)((4, 5)), "Layer" in layer
    made = made.cuda() if layer.startswith("Mixed") else made.cuda().to(kind)
    with torch.no_grad():
        made.weight.copy_(weight)
        if centred:
            made.bias.copy_(bias)
    mine, exact = x.cuda().requires_grad_(), [each.double().requires_grad_() for each in (x, weight, bias)]
    found = made(mine)
    assert found.dtype == (torch.float32 if layer.startswith("Mixed") else kind)
    wanted = by_definition(*exact, centred)
    found.backward(back.cuda().to(found.dtype))
    wanted.backward(back.double())
    pairs = [(found, wanted), (mine.grad, exact[0].grad), (made.weight.grad, exact[1].grad)]
    for one, other in pairs + ([(made.bias.grad, exact[2].grad)] if centred else []):
        assert (one.detach().cpu().double() - other.detach()).abs().max() <= bound * other.abs().max()


def test_functions_of_norms():
    x, weight, bias = drawn(3, 4, 5).cuda(), drawn(4, 5, seed=1).cuda(), drawn(4, 5, seed=2).cuda()
    exact = [each.cpu().double() for each in (x, weight, bias)]
    wanted = by_definition(*exact, True, 1e-3)
    for found in (
        norms.fused_layer_norm_affine(x, weight, bias, (4, 5), 1e-3),
        norms.FusedLayerNormAffineFunction.apply(x, weight, bias, (4, 5), 1e-3),
    ):
        torch.testing.assert_close(found.cpu().double(), wanted, atol=1e-5, rtol=1e-5)
    found = norms.FusedRMSNormAffineFunction.apply(x, weight, (4, 5), 1e-3, True)
    torch.testing.assert_close(found.cpu().double(), by_definition(*exact, False, 1e-3), atol=1e-5, rtol=1e-5)
    plain = by_definition(exact[0], 1.0, 0.0, True, 1e-6)
    torch.testing.assert_close(norms.fused_layer_norm(x, (4, 5)).cpu().double(), plain, atol=1e-5, rtol=1e-5)


def adam(value, slopes, decoupled, correct, lr=0.1, decay=0.3, betas=(0.8, 0.95), eps=1e-3):
    mean = square = torch.zeros_like(value)
    for step, slope in enumerate(slopes, 1):
        slope = slope if decoupled else slope + decay * value
        mean, square = betas[0] * mean + (1 - betas[0]) * slope, betas[1] * square + (1 - betas[1]) * slope**2
        one, two = (1 - beta**step if correct else 1 for beta in betas)
        value = value - lr * (mean / one / ((square / two).sqrt() + eps) + (decay * value if decoupled else 0))
    return value


@pytest.mark.parametrize("kind, bound", [(torch.float32, 1e-5), (torch.float64, 1e-12), (torch.bfloat16, 2e-2)])
@pytest.mark.parametrize("decoupled", [True, False])
@pytest.mark.parametrize("correct", [True, False])
def test_steps_of_adam(decoupled, correct, kind, bound):
    value, slopes = drawn(5, 3).to(kind), [drawn(5, 3, seed=seed).to(kind) for seed in (1, 2, 3)]
    number = torch.nn.Parameter(value.cuda())
    optimizer = optimizers.FusedAdam(
        [number], lr=0.1, bias_correction=correct, betas=(0.8, 0.95), eps=1e-3, adam_w_mode=decoupled, weight_decay=0.3
    )
    for slope in slopes:
        optimizer.zero_grad()
        assert number.grad is None
        number.grad = slope.cuda()
        optimizer.step()
    wanted = adam(value.double(), [each.double() for each in slopes], decoupled, correct)
    assert (number.detach().cpu().double() - wanted).abs().max() <= bound * wanted.abs().max()


def test_gradient_descent_with_momentum():
    number = torch.nn.Parameter(drawn(4).cuda())
    optimizer = optimizers.FusedSGD([number], lr=0.1, momentum=0.9, weight_decay=0.2, nesterov=True)
    value, speed = drawn(4).double(), 0
    for seed in (1, 2):
        slope = drawn(4, seed=seed)
        number.grad = slope.cuda()
        optimizer.step()
        slope = slope.double() + 0.2 * value
        speed = 0.9 * speed + slope if seed == 2 else slope
        value = value - 0.1 * (slope + 0.9 * speed)
    torch.testing.assert_close(number.detach().cpu().double(), value, atol=1e-6, rtol=1e-6)


def test_functions_over_lists():
    given = [drawn(7, seed=1), drawn(2, 3, seed=2).half()]
    ours, flag = [each.cuda() for each in given], torch.zeros(1, dtype=torch.int, device="cuda")
    outs = [torch.empty_like(each, dtype=torch.float32) for each in ours]
    several.multi_tensor_applier(several.multi_tensor_scale, flag, [ours, outs], 0.5)
    for one, other in zip(outs, given):
        torch.testing.assert_close(one.cpu().double(), 0.5 * other.double(), atol=1e-7, rtol=1e-6)
    several.multi_tensor_applier(several.multi_tensor_axpby, flag, [ours, outs, outs], 2.0, 3.0, -1)
    torch.testing.assert_close(outs[1].cpu().double(), 3.5 * given[1].double(), atol=1e-6, rtol=1e-6)
    norm, each = several.multi_tensor_applier(several.multi_tensor_l2norm, flag, [ours], True)
    wanted = [one.double().pow(2).sum() for one in given]
    torch.testing.assert_close(norm.cpu().double(), sum(wanted).sqrt().reshape(1), atol=0, rtol=1e-6)
    torch.testing.assert_close(each.cpu().double(), torch.stack(wanted).sqrt(), atol=0, rtol=1e-6)
    assert int(flag) == 0
    ours[0][3] = torch.inf
    several.multi_tensor_applier(several.multi_tensor_scale, flag, [ours, outs], 1.0)
    assert int(flag) == 1


def test_what_is_not_served_is_named():
    number = torch.nn.Parameter(torch.zeros(2, device="cuda"))
    with pytest.raises(RuntimeError, match="AMSGrad"):
        optimizers.FusedAdam([number], amsgrad=True)
    for name in ("capturable", "master_weights"):
        with pytest.raises(NotImplementedError, match=name):
            optimizers.FusedAdam([number], **{name: True})
    with pytest.raises(NotImplementedError, match="wd_after_momentum"):
        optimizers.FusedSGD([number], lr=1, wd_after_momentum=True)
