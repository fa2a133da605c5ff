"""FlashAttention's interface as anywarp answers it, against attention by its definition: loops over rows in double precision, gradients included."""

import math

import pytest
import torch

from anywarp.frameworks.neighbours.answers import flash_attn as ours
from anywarp.frameworks.neighbours.answers import flash_attn_padding as padding
from anywarp.frameworks.neighbours.answers import flash_attn_rotary as rotary
from anywarp.frameworks.neighbours.registry import SERVED
from anywarp.frameworks.tensorrt import needed


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).bfloat16()


def by_definition(q, k, v, scale=None, causal=False, window=(-1, -1), softcap=0.0, slopes=None, left=0):
    """Attention of one sequence, (rows, heads, width), row by row; also the logarithms of the sums. `left` columns are hidden."""
    rows, heads, width = q.shape
    columns, few = k.shape[:2]
    scale = 1 / math.sqrt(width) if scale is None else scale
    outs, sums = [], []
    for row in range(rows):
        own = row + columns - rows
        for head in range(heads):
            behind, ahead = window[0], 0 if causal else window[1]
            seen = [
                c for c in range(left, columns) if (ahead < 0 or c - own <= ahead) and (behind < 0 or own - c <= behind)
            ]
            if not seen:
                outs.append(torch.zeros(width, dtype=torch.float64))
                sums.append(torch.tensor(math.inf, dtype=torch.float64))
                continue
            of = head // (heads // few)
            scores = (k[seen, of] * q[row, head]).sum(-1) * scale
            if softcap:
                scores = softcap * torch.tanh(scores / softcap)
            if slopes is not None:
                scores = scores - slopes[head] * torch.tensor([abs(own - c) for c in seen])
            weights = torch.exp(scores)
            outs.append((weights[:, None] * v[seen, of]).sum(0) / weights.sum())
            sums.append(torch.log(weights.sum()))
    return torch.stack(outs).reshape(rows, heads, width), torch.stack(sums).reshape(rows, heads).T


def close(found, wanted, bound=2e-2):
    found, wanted = found.detach().cpu().double(), wanted.detach()
    assert found.shape == wanted.shape
    assert (found - wanted).abs().max() <= bound * wanted.abs().max()


CASES = {
    "plain": {},
    "scaled": {"softmax_scale": 0.7},
    "causal at the end": {"causal": True},
    "a window": {"window_size": (2, 1)},
    "a causal window": {"causal": True, "window_size": (3, 0)},
    "open to the right": {"window_size": (1, -1)},
    "capped": {"softcap": 1.5, "causal": True},
    "sloped": {"alibi_slopes": torch.tensor([0.5, 0.25, 0.1, 0.05]), "causal": True},
    "deterministic": {"deterministic": True},
}
NAMES = {
    "softmax_scale": "scale",
    "causal": "causal",
    "window_size": "window",
    "softcap": "softcap",
    "alibi_slopes": "slopes",
}


def meant(given):
    return {NAMES[name]: value for name, value in given.items() if name in NAMES}


def on_device(given):
    return {name: value.cuda() if isinstance(value, torch.Tensor) else value for name, value in given.items()}


@pytest.mark.parametrize("rows, columns", [(7, 7), (4, 9), (9, 4)])
@pytest.mark.parametrize("case", CASES)
def test_attention_and_its_gradients(case, rows, columns):
    given, shapes = CASES[case], ((2, rows, 4, 8), (2, columns, 2, 8), (2, columns, 2, 8))
    values = [drawn(*shape, seed=seed) for seed, shape in enumerate(shapes)]
    back = drawn(2, rows, 4, 8, seed=9)
    mine = [each.cuda().requires_grad_() for each in values]
    exact = [each.double().requires_grad_() for each in values]
    found = ours.flash_attn_func(*mine, **on_device(given))
    wanted = torch.stack([by_definition(*(each[b] for each in exact), **meant(given))[0] for b in range(2)])
    close(found, wanted)
    found.backward(back.cuda())
    wanted.backward(back.double())
    for one, other in zip(mine, exact):
        close(one.grad, other.grad, 4e-2)


@pytest.mark.parametrize("case", ["plain", "causal at the end", "capped", "sloped"])
def test_the_logarithms_of_the_sums(case):
    given = CASES[case]
    q, k, v = drawn(1, 9, 4, 8), drawn(1, 4, 2, 8, seed=1), drawn(1, 4, 2, 8, seed=2)
    out, sums, probabilities = ours.flash_attn_func(
        q.cuda(), k.cuda(), v.cuda(), return_attn_probs=True, **on_device(given)
    )
    wanted, logarithms = by_definition(q[0].double(), k[0].double(), v[0].double(), **meant(given))
    close(out[0], wanted)
    assert sums.dtype == torch.float32 and probabilities.numel() == 0
    torch.testing.assert_close(sums[0].cpu().double(), logarithms, atol=1e-5, rtol=1e-5)


def test_packed_forms():
    qkv, kv = drawn(2, 5, 3, 4, 8), drawn(2, 7, 2, 2, 8, seed=1)
    close(
        ours.flash_attn_qkvpacked_func(qkv.cuda(), causal=True)[0],
        by_definition(*qkv[0].double().unbind(1), causal=True)[0],
    )
    q = drawn(2, 5, 4, 8, seed=2)
    close(
        ours.flash_attn_kvpacked_func(q.cuda(), kv.cuda())[1],
        by_definition(q[1].double(), *kv[1].double().unbind(1))[0],
    )


def beginnings(*lengths):
    return torch.tensor([0, *lengths]).cumsum(0).int().cuda()


@pytest.mark.parametrize("case", CASES)
def test_sequences_of_several_lengths(case):
    given, long, wide = CASES[case], (3, 0, 6, 1), (5, 2, 4, 1)
    q, k, v = (
        drawn(12, 4, 8),
        drawn(12, 2, 8, seed=1),
        drawn(12, 2, 8, seed=2),
    )  # rows 10 and 11 of q are of no sequence
    mine = [each.cuda().requires_grad_() for each in (q, k, v)]
    exact = [each.double().requires_grad_() for each in (q, k, v)]
    found = ours.flash_attn_varlen_func(*mine, beginnings(*long), beginnings(*wide), 6, 5, **on_device(given))
    parts = [
        by_definition(*part, **meant(given))[0]
        for part in zip(exact[0].split((*long, 2)), exact[1].split(wide), exact[2].split(wide))
        if len(part[0])
    ]
    wanted = torch.cat([*parts, torch.zeros(2, 4, 8, dtype=torch.float64)])
    close(found, wanted)
    back = drawn(12, 4, 8, seed=5)
    found.backward(back.cuda())
    wanted.backward(back.double())
    for one, other in zip(mine, exact):
        close(one.grad, other.grad, 4e-2)


def test_packed_sequences():
    qkv = drawn(9, 3, 2, 8)
    found = ours.flash_attn_varlen_qkvpacked_func(qkv.cuda(), beginnings(4, 5), 5, causal=True)
    close(found[4:], by_definition(*qkv[4:].double().unbind(1), causal=True)[0])
    q = drawn(9, 4, 8, seed=1)
    found = ours.flash_attn_varlen_kvpacked_func(q.cuda(), qkv[:, 1:].cuda(), beginnings(4, 5), beginnings(4, 5), 5, 5)
    close(found[:4], by_definition(q[:4].double(), *qkv[:4, 1:].double().unbind(1))[0])


def paged(cache, size):
    """Lay a cache (batch, rows, heads, width) into pages in a shuffled order; return them and the table."""
    batch, rows = cache.shape[:2]
    many = rows // size
    order = torch.randperm(batch * many, generator=torch.Generator().manual_seed(3))
    pages = torch.zeros(batch * many + 2, size, *cache.shape[2:], dtype=cache.dtype)
    pages[order] = cache.reshape(batch * many, size, *cache.shape[2:])
    return pages.cuda(), order.reshape(batch, many).int().cuda()


@pytest.mark.parametrize("in_pages", [False, True])
@pytest.mark.parametrize("case", ["plain", "causal at the end", "a causal window", "capped", "sloped"])
def test_a_cache_takes_new_rows_and_is_attended(case, in_pages):
    given, lengths, new, size = CASES[case], (250, 3), 9, 256
    caches = [drawn(2, 512, 2, 8, seed=seed) for seed in (1, 2)]
    q, k, v = drawn(2, new, 4, 8, seed=3), drawn(2, new, 2, 8, seed=4), drawn(2, new, 2, 8, seed=5)
    if in_pages:
        (keys, table), (values, _) = (paged(each, size) for each in caches)
    else:
        (keys, values), table = (each.cuda() for each in caches), None
    found, sums = ours.flash_attn_with_kvcache(
        q.cuda(), keys, values, k.cuda(), v.cuda(), cache_seqlens=torch.tensor(lengths, dtype=torch.int32).cuda(),
        block_table=table, return_softmax_lse=True, **on_device(given),
    )  # fmt: skip
    for at, length in enumerate(lengths):
        whole = [torch.cat([cache[at, :length], fresh[at]]).double() for cache, fresh in zip(caches, (k, v))]
        wanted, logarithms = by_definition(q[at].double(), *whole, **meant(given))
        close(found[at], wanted)
        torch.testing.assert_close(sums[at].cpu().double(), logarithms, atol=1e-4, rtol=1e-5)
        kept = keys[table[at].long()].flatten(0, 1) if in_pages else keys[at]
        assert torch.equal(kept[: length + new].cpu().double(), whole[0])


def test_a_cache_by_numbers_with_hidden_columns():
    keys, values, q = drawn(4, 20, 2, 8), drawn(4, 20, 2, 8, seed=1), drawn(2, 3, 2, 8, seed=2)
    which, hidden = torch.tensor([3, 1], dtype=torch.int32), torch.tensor([2, 5], dtype=torch.int32)
    found = ours.flash_attn_with_kvcache(
        q.cuda(), keys.cuda(), values.cuda(), cache_seqlens=11, cache_batch_idx=which.cuda(), cache_leftpad=hidden.cuda(), causal=True,
    )  # fmt: skip
    for at in range(2):
        both = (each[which[at], :11].double() for each in (keys, values))
        close(found[at], by_definition(q[at].double(), *both, causal=True, left=int(hidden[at]))[0])


def turned(x, angles, first, interleaved, still=False):
    """Turn pairs of numbers of x, (rows, heads, width), by complex numbers."""
    half, out = angles.shape[1], x.double().clone()
    pairs = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if interleaved else (slice(0, half), slice(half, 2 * half))
    for row in range(x.shape[0]):
        turn = torch.polar(torch.ones(half, dtype=torch.float64), angles[first + (0 if still else row)])
        number = torch.complex(out[row][:, pairs[0]], out[row][:, pairs[1]]) * turn
        out[row][:, pairs[0]], out[row][:, pairs[1]] = number.real, number.imag
    return out


ANGLES = torch.arange(40.0, dtype=torch.float64)[:, None] * torch.tensor([1.0, 0.3, 0.1])


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_embeddings(interleaved):
    cos, sin = ANGLES.cos().float().cuda(), ANGLES.sin().float().cuda()
    x = drawn(2, 5, 3, 8)
    found = rotary.apply_rotary_emb(x.cuda(), cos, sin, interleaved, seqlen_offsets=torch.tensor([4, 9]).cuda())
    for at, first in enumerate((4, 9)):
        close(found[at], turned(x[at], ANGLES, first, interleaved), 1e-2)
    long = drawn(7, 3, 8)
    found = rotary.apply_rotary_emb(long.cuda(), cos, sin, interleaved, cu_seqlens=beginnings(3, 4), max_seqlen=4)
    close(found[3:], turned(long[3:], ANGLES, 0, interleaved), 1e-2)
    qkv = drawn(2, 5, 3, 2, 8)
    mine = qkv.cuda()
    assert rotary.apply_rotary_emb_qkv_(mine, cos, sin, interleaved=interleaved, seqlen_offsets=2) is mine
    close(mine[1, :, 1], turned(qkv[1, :, 1], ANGLES, 2, interleaved), 1e-2)
    assert torch.equal(mine[:, :, 2].cpu(), qkv[:, :, 2])


@pytest.mark.parametrize("causal", [False, True])
def test_a_cache_whose_new_rows_are_turned(causal):
    keys, values = drawn(1, 20, 2, 8), drawn(1, 20, 2, 8, seed=1)
    q, k, v = (drawn(1, 3, 2, 8, seed=seed) for seed in (2, 3, 4))
    cos, sin = ANGLES.cos().float().cuda(), ANGLES.sin().float().cuda()
    found = ours.flash_attn_with_kvcache(
        q.cuda(),
        keys.cuda(),
        values.cuda(),
        k.cuda(),
        v.cuda(),
        cos,
        sin,
        cache_seqlens=6,
        causal=causal,
        rotary_interleaved=False,
    )
    # The README: all queries stand at the cache's end where nothing is causal.
    whole_k = torch.cat([keys[0, :6].double(), turned(k[0], ANGLES, 6, False)])
    whole_v = torch.cat([values[0, :6], v[0]]).double()
    close(
        found[0],
        by_definition(turned(q[0], ANGLES, 6, False, still=not causal), whole_k, whole_v, causal=causal)[0],
        3e-2,
    )


def test_dropout_keeps_the_mean_and_drops():
    ones = torch.ones(4, 64, 2, 32, device="cuda", dtype=torch.bfloat16)
    found = ours.flash_attn_func(ones, ones, ones, dropout_p=0.25).float()
    assert abs(float(found.mean()) - 1) < 0.05 and float(found.std()) > 0.01


def test_padding_is_taken_out_and_put_back():
    mask = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]])
    x = torch.arange(24.0).reshape(3, 4, 2).cuda().requires_grad_()
    rows, numbers, first, longest, used = padding.unpad_input(x, mask.cuda())
    assert numbers.tolist() == [0, 1, 4, 5, 6, 10, 11] and first.tolist() == [0, 2, 5, 7] and longest == 3
    assert used.tolist() == [2, 3, 2] and first.dtype == torch.int32
    back = padding.pad_input(rows, numbers, 3, 4)
    assert torch.equal(back, x * mask.cuda()[..., None])
    back.sum().backward()
    assert torch.equal(x.grad[..., 0].long().cpu(), mask)


def test_what_is_refused_and_what_is_not_served():
    x = torch.zeros(1, 2, 2, 8, device="cuda")
    half = x.half()
    with pytest.raises(RuntimeError, match="only support fp16 and bf16"):
        ours.flash_attn_func(x, x, x)
    with pytest.raises(RuntimeError, match="k must be on CUDA"):
        ours.flash_attn_func(half, half.cpu(), half)
    with pytest.raises(NotImplementedError, match="return_attn_probs"):
        ours.flash_attn_func(half, half, half, dropout_p=0.1, return_attn_probs=True)
    with pytest.raises(NotImplementedError, match="cache_leftpad"):
        ours.flash_attn_with_kvcache(half, half, half, half, half, x, x, cache_leftpad=x)
    with pytest.raises(RuntimeError, match="passed together"):
        ours.flash_attn_with_kvcache(half, half, half, half)
    with pytest.raises(RuntimeError, match="divisible by 256"):
        ours.flash_attn_with_kvcache(half, half, half, block_table=torch.zeros(1, 1, dtype=torch.int32, device="cuda"))


@pytest.mark.parametrize("each", SERVED, ids=lambda each: each.name)
def test_the_own_test_of_each_neighbour(each):
    if each.name == "tensorrt" and needed.missing():
        pytest.skip("onnx or onnxruntime is not installed")
    lines = list(each.self_test())
    assert lines and all(line.error <= line.bound for line in lines)
