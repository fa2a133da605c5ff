"""Transformer Engine's interface as anywarp answers it, against its formulas in double precision and against 8 bits counted out."""

import bisect
import math

import pytest
import torch

from anywarp.frameworks.neighbours.answers import te_distributed, te_refused
from anywarp.frameworks.neighbours.answers import te_pytorch as te
from anywarp.frameworks.neighbours.answers import te_recipe as recipe


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def close(found, wanted, bound=2e-5):
    found, wanted = found.detach().cpu().double(), wanted.detach().double()
    assert found.shape == wanted.shape
    assert (found - wanted).abs().max() <= bound * max(1.0, float(wanted.abs().max()))


def randomised(module, seed=5):
    """Give every parameter values of its own, and return those in double precision, with gradients."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for each in module.parameters():
            each.copy_(torch.randn(each.shape, generator=draw) * 0.4)
    return {name: each.detach().cpu().double().requires_grad_() for name, each in module.named_parameters()}


def check_gradients(module, exact, bound=1e-4):
    for name, each in module.named_parameters():
        close(each.grad, exact[name].grad, bound)


def norm(x, weight, bias, kind, eps=1e-5):
    if kind == "LayerNorm":
        x = x - x.mean(-1, keepdim=True)
    x = x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight
    return x if bias is None else x + bias


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("kind", ["LayerNorm", "RMSNorm"])
def test_norms(kind, centred):
    layer = getattr(te, kind)(7, zero_centered_gamma=centred)
    assert all(
        float(each.detach().sum()) == (0 if centred or name == "bias" else 7) for name, each in layer.named_parameters()
    )
    exact, x = randomised(layer), drawn(3, 4, 7)
    mine, theirs = x.cuda().requires_grad_(), x.double().requires_grad_()
    found = layer(mine)
    wanted = norm(theirs, exact["weight"] + (1 if centred else 0), exact.get("bias"), kind)
    close(found, wanted)
    back = drawn(3, 4, 7, seed=9)
    found.backward(back.cuda())
    wanted.backward(back.double())
    close(mine.grad, theirs.grad)
    check_gradients(layer, exact)


@pytest.mark.parametrize("split", [None, ("one", "two_"), {"one": 2, "two": 4}])
@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_layer_whole_and_split(split, bias):
    layer, x = te.Linear(5, 6, bias=bias, parameters_split=split), drawn(2, 3, 5)
    exact, mine = randomised(layer), x.cuda().requires_grad_()
    names = [""] if split is None else ["one_", "two_"]
    assert set(exact) == {f"{name}{what}" for name in names for what in (["weight", "bias"] if bias else ["weight"])}
    wanted = x.double() @ torch.cat([exact[f"{name}weight"] for name in names]).t()
    if bias:
        wanted = wanted + torch.cat([exact[f"{name}bias"] for name in names])
    found = layer(mine)
    close(found, wanted)
    found.pow(2).sum().backward()
    wanted.pow(2).sum().backward()
    check_gradients(layer, exact)


@pytest.mark.parametrize("returned", [False, True])
def test_several_layers_each_for_its_rows(returned):
    layer, x, splits = te.GroupedLinear(3, 5, 4, return_bias=returned), drawn(7, 5), [2, 0, 5]
    assert {name for name, _ in layer.named_parameters()} == {
        f"{what}{n}" for what in ("weight", "bias") for n in range(3)
    }
    exact, mine = randomised(layer), x.cuda().requires_grad_()
    theirs = x.double().requires_grad_()
    parts = theirs.split(splits)
    wanted = torch.cat([
        part @ exact[f"weight{n}"].t() + (0 if returned else exact[f"bias{n}"]) for n, part in enumerate(parts)
    ])  # fmt: skip
    found = layer(mine, splits)
    if returned:
        found, biases = found
        for n, each in enumerate(biases):
            close(each, exact[f"bias{n}"])
    close(found, wanted)
    back = drawn(7, 4, seed=8)
    found.backward(back.cuda())
    wanted.backward(back.double())
    close(mine.grad, theirs.grad)
    for name, each in layer.named_parameters():
        if each.grad is not None and exact[name].grad is not None:
            close(each.grad, exact[name].grad)
    with pytest.raises(AssertionError, match="should match number of GEMMs"):
        layer(mine, [3, 4])


def test_streams_of_random_numbers():
    torch.cuda.manual_seed(1)
    tracker = te.CudaRNGStatesTracker()
    tracker.add("one", 5)
    first = torch.randn(4, device="cuda")
    with tracker.fork("one"):
        inside = torch.randn(4, device="cuda")
    second = torch.randn(4, device="cuda")
    with tracker.fork("one"):
        further = torch.randn(4, device="cuda")
    torch.cuda.manual_seed(5)
    assert torch.equal(torch.randn(4, device="cuda"), inside) and torch.equal(torch.randn(4, device="cuda"), further)
    torch.cuda.manual_seed(1)
    assert torch.equal(torch.randn(4, device="cuda"), first) and torch.equal(torch.randn(4, device="cuda"), second)
    for error, wrong in ((RuntimeError, ("two", 5)), (RuntimeError, ("one", 6))):
        with pytest.raises(error, match="already exists"):
            tracker.add(*wrong)
    with pytest.raises(KeyError, match="is not added"), tracker.fork("three"):
        pass


def test_what_an_autocast_says_to_those_who_ask():
    manager = te.FP8GlobalStateManager
    assert not manager.is_fp8_enabled()
    with te.autocast(recipe=recipe.Float8CurrentScaling()):
        assert manager.is_fp8_enabled() and isinstance(manager.get_fp8_recipe(), recipe.Float8CurrentScaling)
        with pytest.raises(NotImplementedError, match="activation_recompute_forward"):
            te_distributed.activation_recompute_forward(activation_recompute=True).__enter__()
    assert not manager.is_fp8_enabled()


def test_a_bias_is_returned_and_not_added():
    layer, x = te.Linear(5, 6, return_bias=True), drawn(2, 5)
    exact = randomised(layer)
    out, bias = layer(x.cuda())
    close(out, x.double() @ exact["weight"].t())
    close(bias, exact["bias"])


@pytest.mark.parametrize("kind", ["LayerNorm", "RMSNorm"])
def test_a_norm_and_a_linear_layer(kind):
    layer = te.LayerNormLinear(5, 6, normalization=kind, return_layernorm_output=True, zero_centered_gamma=True)
    exact, x = randomised(layer), drawn(3, 5)
    names = {"layer_norm_weight", "weight", "bias", *(["layer_norm_bias"] if kind == "LayerNorm" else [])}
    assert set(exact) == names and set(layer.state_dict()) == names | {"_extra_state"}
    normal = norm(x.double(), exact["layer_norm_weight"] + 1, exact.get("layer_norm_bias"), kind)
    out, found = layer(x.cuda())
    close(found, normal)
    wanted = normal @ exact["weight"].t() + exact["bias"]
    close(out, wanted)
    out.pow(2).sum().backward()
    wanted.pow(2).sum().backward()
    check_gradients(layer, exact)


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


SINGLE = {
    "gelu": gelu,
    "relu": lambda x: x * (x > 0),
    "srelu": lambda x: x**2 * (x > 0),
    "silu": lambda x: x / (1 + torch.exp(-x)),
    "qgelu": lambda x: x / (1 + torch.exp(-1.702 * x)),
}
DOUBLE = {"geglu": "gelu", "reglu": "relu", "sreglu": "srelu", "swiglu": "silu", "qgeglu": "qgelu"}


@pytest.mark.parametrize("activation", [*SINGLE, *DOUBLE, "glu"])
def test_the_mlp(activation):
    layer, x = te.LayerNormMLP(6, 8, activation=activation), drawn(2, 3, 6)
    exact = randomised(layer)
    assert set(exact) == {"layer_norm_weight", "layer_norm_bias", "fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"}
    inner = (
        norm(x.double(), exact["layer_norm_weight"], exact["layer_norm_bias"], "LayerNorm") @ exact["fc1_weight"].t()
    )
    inner = inner + exact["fc1_bias"]
    if activation in SINGLE:
        inner = SINGLE[activation](inner)
    else:
        one, other = inner[..., :8], inner[..., 8:]
        inner = (torch.sigmoid(one) if activation == "glu" else SINGLE[DOUBLE[activation]](one)) * other
    wanted = inner @ exact["fc2_weight"].t() + exact["fc2_bias"]
    found = layer(x.cuda())
    close(found, wanted)
    found.pow(2).sum().backward()
    wanted.pow(2).sum().backward()
    check_gradients(layer, exact)


def attention(q, k, v, seen=None, bias=None, scale=None, softcap=0.0):
    """By its definition, over (batch, heads, rows, width)."""
    k, v = (each.repeat_interleave(q.shape[1] // each.shape[1], 1) for each in (k, v))
    scores = q @ k.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    return torch.nan_to_num(torch.softmax(scores, -1)) @ v


ROWS, COLUMNS = 5, 7


def causal(shift=0, left=None):
    return torch.tensor(
        [[(left is None or j >= i + shift - left) and j <= i + shift for j in range(COLUMNS)] for i in range(ROWS)]
    )


CASES = {
    "no_mask": ({}, None),
    "causal": ({}, causal()),
    "causal_bottom_right": ({}, causal(COLUMNS - ROWS)),
    "window": ({"attn_mask_type": "causal", "window_size": (2, 0)}, causal(0, 2)),
}


@pytest.mark.parametrize("groups", [4, 2])
@pytest.mark.parametrize("form", ["sbhd", "bshd"])
@pytest.mark.parametrize("case", CASES)
def test_the_core_of_attention(case, form, groups):
    named, seen = CASES[case]
    core = te.DotProductAttention(
        4, 8, num_gqa_groups=groups, attn_mask_type=named.get("attn_mask_type", case), qkv_format=form
    )
    q, k, v = (
        drawn(2, heads, rows, 8, seed=seed)
        for seed, (heads, rows) in enumerate([(4, ROWS), (groups, COLUMNS), (groups, COLUMNS)])
    )
    mine = [
        each.permute(*((2, 0, 1, 3) if form == "sbhd" else (0, 2, 1, 3))).cuda().requires_grad_() for each in (q, k, v)
    ]
    exact = [each.double().requires_grad_() for each in (q, k, v)]
    found = core(*mine, window_size=named.get("window_size"))
    wanted = attention(*exact, seen).permute(*((2, 0, 1, 3) if form == "sbhd" else (0, 2, 1, 3))).flatten(2)
    close(found, wanted)
    found.pow(2).sum().backward()
    wanted.pow(2).sum().backward()
    for one, other in zip(mine, exact):
        close(one.grad, other.grad.permute(*((2, 0, 1, 3) if form == "sbhd" else (0, 2, 1, 3))), 1e-4)


def test_biases_caps_and_scales():
    q, k, v, bias = (drawn(*shape, seed=n) for n, shape in enumerate([(2, 4, 5, 8)] * 3 + [(1, 4, 5, 5)]))
    mine, exact = [each.permute(0, 2, 1, 3).cuda() for each in (q, k, v)], [each.double() for each in (q, k, v)]
    core = te.DotProductAttention(4, 8, qkv_format="bshd", attn_mask_type="no_mask", softmax_scale=0.3)
    for kind, factor in (("post_scale_bias", 1.0), ("pre_scale_bias", 0.3)):
        found = core(*mine, core_attention_bias_type=kind, core_attention_bias=bias.cuda())
        close(found, attention(*exact, bias=bias.double() * factor, scale=0.3).permute(0, 2, 1, 3).flatten(2))
    close(core(*mine, softcap=0.7), attention(*exact, scale=0.3, softcap=0.7).permute(0, 2, 1, 3).flatten(2))
    slopes = torch.tensor([2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8]).double()  # ALiBi's paper, for four heads
    away = torch.arange(5)[None, :] - torch.arange(5)[:, None]
    found = core(*mine, attn_mask_type="causal", core_attention_bias_type="alibi")
    wanted = attention(*exact, seen=away <= 0, bias=slopes[:, None, None] * away, scale=0.3)
    close(found, wanted.permute(0, 2, 1, 3).flatten(2))


def test_padding_in_three_ways():
    q, k, v = (drawn(2, 3, 6, 4, seed=seed) for seed in range(3))
    lengths = torch.tensor([4, 6])
    there = torch.arange(6) < lengths[:, None]
    wanted = attention(q.double(), k.double(), v.double(), there[:, None, :, None] & there[:, None, None, :])
    wanted = (wanted * there[:, None, :, None]).permute(0, 2, 1, 3).flatten(2)
    core = te.DotProductAttention(3, 4, qkv_format="bshd", attn_mask_type="padding")
    mine = [each.permute(0, 2, 1, 3).cuda() for each in (q, k, v)]
    close(core(*mine, attention_mask=~there[:, None, None].cuda()), wanted)
    at = torch.tensor([0, 4, 10], dtype=torch.int32).cuda()
    close(core(*mine, cu_seqlens_q=at, cu_seqlens_kv=at), wanted)
    packed = [each[there.cuda()] for each in mine]
    found = core(*packed, qkv_format="thd", cu_seqlens_q=at, cu_seqlens_kv=at)
    close(found, wanted[there])


def heads_of(x, weight, bias, heads):
    """(rows, batch, hidden) times a weight, as (batch, heads, rows, width)."""
    return (x @ weight.t() + bias).unflatten(-1, (heads, -1)).permute(1, 2, 0, 3)


def turned(x, base=10000.0):
    """Rotary embeddings as multiplications of complex numbers, of (batch, heads, rows, width), halves as parts."""
    width = x.shape[-1]
    angle = torch.arange(x.shape[2]).double()[:, None] * base ** (-torch.arange(0, width, 2).double() / width)
    z = torch.complex(x[..., : width // 2], x[..., width // 2 :]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat((z.real, z.imag), -1)


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("fused", ["apart", "behind one another", "interleaved"])
def test_the_layer_of_attention(fused, rotary):
    layer = te.MultiheadAttention(
        24,
        4,
        num_gqa_groups=2,
        attention_dropout=0.0,
        fuse_qkv_params=fused != "apart",
        qkv_weight_interleaved=fused == "interleaved",
        input_layernorm=True,
    )
    exact, x = randomised(layer), drawn(5, 2, 24)
    if fused == "apart":
        parts = [
            exact[f"layernorm_qkv.{name}_{what}"] for what in ("weight", "bias") for name in ("query", "key", "value")
        ]
        assert "layernorm_qkv.layer_norm_weight" in exact and "proj.weight" in exact
    else:
        whole = [exact[f"layernorm_qkv.{what}"] for what in ("weight", "bias")]
        if fused == "interleaved":  # of each of two groups: two heads of queries, a key, a value; heads are 6 wide
            parts = [
                torch.cat([each[g * 24 + first : g * 24 + last] for g in range(2)])
                for each in whole
                for first, last in ((0, 12), (12, 18), (18, 24))
            ]
        else:
            parts = [each[first:last] for each in whole for first, last in ((0, 24), (24, 36), (36, 48))]
    normal = norm(
        x.double(), exact["layernorm_qkv.layer_norm_weight"], exact["layernorm_qkv.layer_norm_bias"], "LayerNorm"
    )
    q, k, v = (heads_of(normal, parts[n], parts[3 + n], heads) for n, heads in enumerate((4, 2, 2)))
    if rotary:
        q, k = turned(q), turned(k)
    seen = torch.ones(5, 5, dtype=torch.bool).tril()
    wanted = attention(q, k, v, seen).permute(2, 0, 1, 3).flatten(2) @ exact["proj.weight"].t() + exact["proj.bias"]
    angles = te.RotaryPositionEmbedding(6)(5) if rotary else None
    found = layer(x.cuda(), rotary_pos_emb=angles)
    close(found, wanted)
    found.pow(2).sum().backward()
    wanted.pow(2).sum().backward()
    check_gradients(layer, exact)


@pytest.mark.parametrize("shape", ["encoder", "decoder", "output_layernorm", "post", "parallel"])
def test_the_transformer_layer(shape):
    named = {"layer_type": "decoder"} if shape == "decoder" else {}
    named |= {
        "output_layernorm": {"output_layernorm": True},
        "post": {"apply_residual_connection_post_layernorm": True},
    }.get(shape, {})
    named |= {"parallel_attention_mlp": True} if shape == "parallel" else {}
    layer = te.TransformerLayer(24, 32, 4, hidden_dropout=0.0, attention_dropout=0.0, **named)
    exact, x, other = randomised(layer), drawn(5, 2, 24), drawn(7, 2, 24, seed=3)

    def attend(prefix, states, source, name, seen):
        if shape == "output_layernorm":
            normal = states
        else:
            normal = norm(
                states, *(exact[f"{prefix}.{name}.layer_norm_{what}"] for what in ("weight", "bias")), "LayerNorm"
            )
        of = {"query": f"{prefix}.{name}.query_", "key": f"{prefix}.{name}.key_", "value": f"{prefix}.{name}.value_"}
        if source is not None:
            of = {
                "query": f"{prefix}.{name}.",
                "key": f"{prefix}.key_value.key_",
                "value": f"{prefix}.key_value.value_",
            }
        q, k, v = (
            heads_of(
                normal if source is None or part == "query" else source,
                exact[f"{begin}weight"],
                exact[f"{begin}bias"],
                4,
            )
            for part, begin in of.items()
        )
        out = attention(q, k, v, seen).permute(2, 0, 1, 3).flatten(2)
        return out @ exact[f"{prefix}.proj.weight"].t() + exact[f"{prefix}.proj.bias"], normal

    def mlp(states):
        p = {
            name.removeprefix("layernorm_mlp."): each
            for name, each in exact.items()
            if name.startswith("layernorm_mlp.")
        }
        normal = norm(states, p["layer_norm_weight"], p["layer_norm_bias"], "LayerNorm")
        return gelu(normal @ p["fc1_weight"].t() + p["fc1_bias"]) @ p["fc2_weight"].t() + p["fc2_bias"], normal

    seen = torch.ones(5, 5, dtype=torch.bool).tril()
    states = x.double()
    name = "qkv" if shape == "output_layernorm" else "layernorm_qkv"
    out, normal = attend("self_attention", states, None, name, seen)
    if shape == "parallel":
        wanted = states + out + mlp(states)[0]
    else:
        states = out + (normal if shape == "post" else states)
        if shape == "decoder":
            states = states + attend("inter_attention", states, other.double(), "layernorm_query", None)[0]
        out, normal = mlp(states)
        wanted = out + (normal if shape == "post" else states)
    if shape == "output_layernorm":
        wanted = norm(wanted, exact["layernorm.weight"], exact["layernorm.bias"], "LayerNorm")
    found = layer(x.cuda(), encoder_output=other.cuda() if shape == "decoder" else None)
    close(found, wanted)
    found.pow(2).sum().backward()
    wanted.pow(2).sum().backward()
    check_gradients(layer, exact, 1e-3)


def values_of(exponent_bits, mantissa_bits, bias, largest):
    """Every magnitude of a format of 8 bits (OCP's specification), in order; those of even mantissas are at even places."""
    found = [
        m * 2.0 ** (1 - bias - mantissa_bits) if e == 0 else (1 + m / 2**mantissa_bits) * 2.0 ** (e - bias)
        for e in range(2**exponent_bits)
        for m in range(2**mantissa_bits)
    ]
    return [each for each in found if each <= largest]


E4M3, E5M2 = values_of(4, 3, 7, 448.0), values_of(5, 2, 15, 57344.0)


def rounded(x, scale, values):
    """x times scale to the nearest value, ties to even, and back."""

    def one(number):
        wanted = min(abs(number), values[-1])
        above = bisect.bisect_left(values, wanted)
        if values[above] == wanted or above == 0:
            near = values[above]
        else:
            low, high = values[above - 1], values[above]
            near = (
                low
                if wanted - low < high - wanted or (wanted - low == high - wanted and (above - 1) % 2 == 0)
                else high
            )
        return math.copysign(near, number)

    scaled = (x.float() * torch.tensor(scale, dtype=torch.float32)).flatten().tolist()
    return torch.tensor([one(each) for each in scaled], dtype=torch.float64).view(x.shape) / scale


def test_scales_that_come_from_the_tensor():
    layer, x, back = te.Linear(32, 16, bias=False), drawn(8, 32), drawn(8, 16, seed=7)
    exact, mine = randomised(layer), x.cuda().requires_grad_()
    with te.fp8_autocast(fp8_recipe=recipe.Float8CurrentScaling()):
        found = layer(mine)
    found.backward(back.cuda())
    weight = exact["weight"].detach()
    low_x = rounded(x, float(448 / x.abs().max()), E4M3)
    low_weight = rounded(weight, float(448 / weight.float().abs().max()), E4M3)
    low_back = rounded(back, float(57344 / back.abs().max()), E5M2)
    close(found, low_x @ low_weight.t(), 1e-5)
    close(mine.grad, low_back @ low_weight, 1e-5)
    close(layer.weight.grad, low_back.t() @ low_x, 1e-5)
    assert (found.detach().cpu().double() - x.double() @ weight.t()).abs().max() > 1e-3


@pytest.mark.parametrize("algorithm", ["max", "most_recent"])
def test_scales_that_come_from_earlier_steps(algorithm):
    how = recipe.DelayedScaling(margin=1, amax_history_len=3, amax_compute_algo=algorithm)
    layer = te.Linear(16, 16, bias=False)
    weight = randomised(layer)["weight"].detach()
    seen, slopes = [], []
    # The largest magnitudes of six steps; from the second on the scale is that of the steps before.
    for step, size in enumerate([1.0, 30.0, 4.0, 2.0, 1.0, 0.0]):
        x, back = drawn(8, 16, seed=step) * size, drawn(8, 16, seed=40 + step) * (size + 1)

        def scale(largest, before):
            recent = before[-1:] if algorithm == "most_recent" else before[-3:]
            return 1.0 if not before else largest / max(recent) / 2

        of_x, of_back = scale(448, seen), scale(57344, slopes)
        of_weight = 1.0 if step == 0 else 448 / float(weight.abs().max()) / 2
        mine = x.cuda().requires_grad_()
        with te.autocast(recipe=how):
            found = layer(mine)
        found.backward(back.cuda())
        low_x, low_weight = rounded(x, of_x, E4M3), rounded(weight, of_weight, E4M3)
        close(found, low_x @ low_weight.t(), 1e-5)
        close(mine.grad, rounded(back, of_back, E5M2) @ low_weight, 1e-5)
        seen.append(float(x.abs().max()))
        slopes.append(float(back.abs().max()))


def test_the_extra_state_carries_scales_to_another_module():
    one, other, x = te.Linear(16, 8), te.Linear(16, 8), drawn(8, 16)
    for _ in range(2):
        with te.autocast(recipe=recipe.DelayedScaling()):
            one(x.cuda())
    other.load_state_dict(one.state_dict())
    with te.autocast(recipe=recipe.DelayedScaling()), torch.no_grad():
        assert torch.equal(one(x.cuda()), other(x.cuda()))
    plain = te.Linear(16, 8).state_dict()
    assert plain["_extra_state"].numel() == 0
    with pytest.raises(NotImplementedError, match="_extra_state"):
        other.load_state_dict({**plain, "_extra_state": torch.tensor([1, 2, 3], dtype=torch.uint8)})


def test_weights_of_the_first_microbatch_are_kept():
    layer, x = te.Linear(16, 8, bias=False), drawn(8, 16)
    with te.autocast(recipe=recipe.Float8CurrentScaling()), torch.no_grad():
        first = layer(x.cuda(), is_first_microbatch=True)
        layer.weight.mul_(2)
        assert torch.equal(layer(x.cuda(), is_first_microbatch=False), first)
        assert not torch.equal(layer(x.cuda()), first)


def test_calibrating_fills_histories_and_changes_no_value():
    layer, x = te.Linear(16, 8, bias=False), drawn(8, 16)
    plain = layer(x.cuda())
    with te.autocast(enabled=False, calibrating=True, recipe=recipe.DelayedScaling()):
        assert torch.equal(layer(x.cuda()), plain)
    assert layer.quantisers["x"].scale.item() == pytest.approx(448 / float(x.abs().max()))


def test_types():
    layer, x = te.LayerNormMLP(8, 16, params_dtype=torch.bfloat16), drawn(2, 8)
    assert layer(x.bfloat16().cuda()).dtype == torch.bfloat16
    with pytest.raises(AssertionError, match="Data types for parameters must match"):
        layer(x.cuda())
    with torch.autocast("cuda", dtype=torch.float16):
        assert te.Linear(8, 8)(x.cuda()).dtype == torch.float16


def test_checkpointing_and_graphs():
    layer, x = te.TransformerLayer(16, 32, 2, hidden_dropout=0.0, attention_dropout=0.0), drawn(4, 2, 16)
    plain = layer(x.cuda())
    plain.sum().backward()
    wanted = {name: each.grad.clone() for name, each in layer.named_parameters()}
    layer.zero_grad()
    te.checkpoint(layer, x.cuda(), use_reentrant=False).sum().backward()
    for name, each in layer.named_parameters():
        close(each.grad, wanted[name].cpu(), 1e-5)


REFUSED = {
    "tp_size=2": lambda: te.LayerNormMLP(4, 4, tp_size=2),
    "sequence_parallel=True": lambda: te.MultiheadAttention(4, 2, sequence_parallel=True),
    "GroupedLinear: tp_size=2": lambda: te.GroupedLinear(2, 4, 4, tp_size=2),
    "te.ops.Sequential": te_refused.Sequential,
    "fused_moe_aux_loss": te_refused.fused_moe_aux_loss,
    "ub_overlap_ag=True": lambda: te.LayerNormMLP(4, 4, ub_overlap_ag=True),
    "fuse_wgrad_accumulation=True": lambda: te.TransformerLayer(4, 4, 2, fuse_wgrad_accumulation=True),
    "drop_path_rate=0.5": lambda: te.TransformerLayer(4, 4, 2, drop_path_rate=0.5),
    "softmax_type='learnable'": lambda: te.DotProductAttention(2, 4, softmax_type="learnable"),
    "MXFP8BlockScaling": recipe.MXFP8BlockScaling,
    "NVFP4BlockScaling": recipe.NVFP4BlockScaling,
    "Float8BlockScaling": recipe.Float8BlockScaling,
    "fp8_dpa": lambda: recipe.DelayedScaling(fp8_dpa=True),
    "fp8_model_init": lambda: te.fp8_model_init().__enter__(),
    "8 bits": lambda: te.make_graphed_callables(None, (), fp8_enabled=True),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_served_says_so_by_name(words):
    with pytest.raises(NotImplementedError, match=words.replace("(", "\\(")):
        REFUSED[words]()


def test_shapes_that_8_bits_do_not_take():
    with te.autocast(recipe=recipe.DelayedScaling()), pytest.raises(AssertionError, match="FP8 execution requires"):
        te.Linear(16, 8)(drawn(7, 16).cuda())
    with pytest.raises(TypeError, match="unexpected argument"):
        te.Linear(16, 8, nonsense=1)
