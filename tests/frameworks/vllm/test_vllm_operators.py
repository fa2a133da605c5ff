"""Our operators in the place of vLLM's kernels, each against its definition written out in float64; they need torch and no vLLM."""

import math

import pytest

torch = pytest.importorskip("torch", reason="this machine has no torch")

from anywarp.frameworks.vllm import attention, cache, experts, layers, sampling  # noqa: E402

pytestmark = pytest.mark.torch

BOUND = {torch.float32: 1e-5, torch.bfloat16: 3e-2, torch.float16: 4e-3}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(7)


@pytest.fixture(params=[torch.float32, torch.bfloat16, torch.float16], ids=str)
def dtype(request):
    return request.param


def near(got, wanted, dtype=torch.float32):
    torch.testing.assert_close(got.double(), wanted.double(), rtol=BOUND[dtype], atol=BOUND[dtype])


# Layers.


def norm(x, weight, epsilon):
    return x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt() * weight


@pytest.mark.parametrize("weighted", [True, False])
def test_rms_norm_of_rows_that_lie_apart(dtype, weighted):
    x = torch.randn(5, 64, dtype=dtype)[:, 16:48]
    weight = torch.randn(32, dtype=dtype) if weighted else None
    result = torch.empty(5, 32, dtype=dtype)
    layers.KERNELS["_C::rms_norm"](result, x, weight, 1e-6)
    near(result, norm(x.double(), weight.double() if weighted else 1.0, 1e-6), dtype)


def test_a_fused_norm_keeps_the_sum_in_the_residual(dtype):
    x, residual, weight = torch.randn(5, 32, dtype=dtype), torch.randn(5, 32, dtype=dtype), torch.randn(32, dtype=dtype)
    total = (x.double() + residual.double()).to(dtype)
    layers.KERNELS["_C::fused_add_rms_norm"](x, residual, weight, 1e-5)
    assert torch.equal(residual, total)
    near(x, norm(total.double(), weight.double(), 1e-5), dtype)


def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def gelu_by_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x / (1 + torch.exp(-x))


@pytest.mark.parametrize(
    ("name", "rest", "wanted"),
    [
        ("silu_and_mul", (), lambda a, b: silu(a) * b),
        ("mul_and_silu", (), lambda a, b: a * silu(b)),
        ("gelu_and_mul", (), lambda a, b: gelu(a) * b),
        ("gelu_tanh_and_mul", (), lambda a, b: gelu_by_tanh(a) * b),
        ("fatrelu_and_mul", (0.4,), lambda a, b: torch.where(a > 0.4, a, 0.0) * b),
        (
            "silu_and_mul_with_clamp",
            (1.0, 1.5, 0.25),
            lambda a, b: a.clamp(max=1) / (1 + torch.exp(-1.5 * a.clamp(max=1))) * (b.clamp(-1, 1) + 0.25),
        ),
        ("situ_and_mul", (2.0, 0.5), lambda a, b: 2 * torch.tanh(a / 2) / (1 + torch.exp(-a)) * torch.tanh(2 * b) / 2),
        ("situ_and_mul", (2.0,), lambda a, b: 2 * torch.tanh(a / 2) / (1 + torch.exp(-a)) * b),
    ],
)
def test_gated_activations(dtype, name, rest, wanted):
    x = torch.randn(3, 2, 34, dtype=dtype)
    result = torch.empty(3, 2, 17, dtype=dtype)
    layers.KERNELS[f"_C::{name}"](result, x, *rest)
    near(result, wanted(*x.double().split(17, -1)), dtype)


def test_swigluoai_takes_gate_and_up_in_turns(dtype):
    x = torch.randn(4, 20, dtype=dtype) * 3
    result = torch.empty(4, 10, dtype=dtype)
    layers.KERNELS["_C::swigluoai_and_mul"](result, x, 1.7, 2.0)
    gate, up = x.double()[:, 0::2].clamp(max=2), x.double()[:, 1::2].clamp(-2, 2)
    near(result, (up + 1) * gate / (1 + torch.exp(-1.7 * gate)), dtype)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("gelu_new", gelu_by_tanh),
        ("gelu_fast", gelu_by_tanh),
        ("gelu_tanh", gelu_by_tanh),
        ("gelu_quick", lambda x: x / (1 + torch.exp(-1.702 * x))),
        ("relu_squared", lambda x: torch.where(x > 0, x * x, 0.0)),
    ],
)
def test_plain_activations(dtype, name, wanted):
    x = torch.randn(4, 9, dtype=dtype)
    result = torch.empty_like(x)
    layers.KERNELS[f"_C::{name}"](result, x)
    near(result, wanted(x.double()), dtype)


@pytest.mark.parametrize("neox", [True, False])
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("flat", [True, False])
def test_rotary_positions_turn_pairs_of_a_part_of_each_head(neox, inverse, flat):
    tokens, heads, size, width, offset = 5, 3, 12, 8, 2
    angles = torch.rand(40, width // 2, dtype=torch.float64) * 6
    table = torch.cat([angles.cos(), angles.sin()], -1).float()
    positions = torch.randint(0, 40, (tokens,))
    query, key = torch.randn(tokens, heads, size), torch.randn(tokens, 1, size)
    wanted = [each.double().clone() for each in (query, key)]
    for tensor in wanted:
        for token in range(tokens):
            for head in range(tensor.shape[1]):
                for pair in range(width // 2):
                    i, j = (pair, pair + width // 2) if neox else (2 * pair, 2 * pair + 1)
                    angle = float(angles[positions[token], pair]) * (-1 if inverse else 1)
                    x, y = (float(tensor[token, head, offset + each]) for each in (i, j))
                    tensor[token, head, offset + i] = x * math.cos(angle) - y * math.sin(angle)
                    tensor[token, head, offset + j] = y * math.cos(angle) + x * math.sin(angle)
    given = [each.flatten(1) if flat else each for each in (query, key)]
    layers.rotary_embedding(positions, *given, size, table, neox, offset, inverse)
    near(query, wanted[0])
    near(key, wanted[1])


def test_rotary_positions_of_a_batch_are_those_of_its_tokens():
    angles = torch.rand(9, 4) * 6
    table = torch.cat([angles.cos(), angles.sin()], -1)
    positions = torch.randint(0, 9, (2, 3))
    batch = torch.randn(2, 3, 16)
    tokens = batch.clone().flatten(0, 1)
    layers.rotary_embedding(positions, batch, None, 8, table, True)
    layers.rotary_embedding(positions.flatten(), tokens, None, 8, table, True)
    assert torch.equal(batch.flatten(0, 1), tokens)


def test_a_share_of_a_vocabulary_knows_its_words_and_gives_zeros_for_others(dtype):
    weight = torch.randn(3 + 2 + 2, 4, dtype=dtype)  # words 10 to 12, two rows of padding, words 100 and 101
    words = torch.tensor([9, 10, 12, 13, 99, 100, 101, 102])
    out = torch.full((8, 4), torch.nan, dtype=dtype)
    layers.KERNELS["_C::vocab_parallel_embedding"](out, words, weight, 10, 13, 2, 100, 102)
    for row, at in enumerate([None, 0, 2, None, None, 5, 6, None]):
        assert out[row].tolist() == (weight[at].tolist() if at is not None else [0.0] * 4)


# The cache.


@pytest.mark.parametrize("heads_first", [False, True])
def test_tokens_go_to_their_slots_and_padding_nowhere(heads_first):
    blocks, block, heads, size = 4, 3, 2, 5
    shape = (blocks, heads, block, size) if heads_first else (blocks, block, heads, size)
    caches = [torch.zeros(shape) for _ in range(2)]
    views = [each.transpose(1, 2) if heads_first else each for each in caches]
    key, value = torch.randn(6, heads, size), torch.randn(6, heads, size)
    slots = torch.tensor([7, -1, 0, 11])
    one = torch.ones(())
    cache.reshape_and_cache_flash(key, value, *views, slots, "auto", one, one)
    for tokens, view in ((key, views[0]), (value, views[1])):
        wanted = torch.zeros(blocks, block, heads, size)
        for token, slot in enumerate(slots.tolist()):
            if slot >= 0:
                wanted[slot // block, slot % block] = tokens[token]
        assert torch.equal(view, wanted)


def test_an_eight_bit_cache_divides_by_its_scale_and_saturates():
    key = torch.tensor([[[0.5, 1000.0, -3.0]]])
    caches = [torch.zeros(1, 2, 1, 3, dtype=torch.uint8) for _ in range(2)]
    cache.reshape_and_cache_flash(key, key, *caches, torch.tensor([1]), "fp8", torch.tensor(0.5), torch.tensor(2.0))
    assert caches[0][0, 1, 0].view(torch.float8_e4m3fn).float().tolist() == [1.0, 448.0, -6.0]
    assert caches[1][0, 1, 0].view(torch.float8_e4m3fn).float().tolist() == [0.25, 448.0, -1.5]


def test_a_cache_of_another_kind_is_refused_by_name():
    x = torch.zeros(1, 1, 4)
    with pytest.raises(NotImplementedError, match="nvfp4"):
        cache.reshape_and_cache_flash(x, x, x[None], x[None], torch.tensor([0]), "nvfp4", torch.ones(1), torch.ones(1))


# Attention.


def attended(q, k, v, scale, causal, left, right, softcap, slopes):
    """Return output and log-sum-exp, one score after the other."""
    queries, heads, _ = q.shape
    keys, groups = k.shape[:2]
    out = torch.zeros(queries, heads, v.shape[-1], dtype=torch.float64)
    sums = torch.full((heads, queries), math.inf, dtype=torch.float64)
    for head in range(heads):
        of = head // (heads // groups)
        for i in range(queries):
            at = i + keys - queries
            scores = {}
            for j in range(keys):
                if (causal and j > at) or (left >= 0 and j < at - left) or (right >= 0 and j > at + right):
                    continue
                score = float(q[i, head].double() @ k[j, of].double()) * scale
                if softcap:
                    score = softcap * math.tanh(score / softcap)
                scores[j] = score - (float(slopes[head]) * abs(at - j) if slopes is not None else 0)
            if scores:
                total = sum(math.exp(each) for each in scores.values())
                sums[head, i] = math.log(total)
                out[i, head] = sum(math.exp(each) / total * v[j, of].double() for j, each in scores.items())
    return out, sums


CASES = {
    "causal": {"causal": True},
    "all": {},
    "window": {"causal": True, "left": 3},
    "both sides": {"left": 2, "right": 1},
    "softcap": {"causal": True, "softcap": 2.0},
    "slopes": {"causal": True, "slopes": True},
}


@pytest.mark.parametrize("paged", [True, False])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("lengths", [[(1, 9), (4, 4), (3, 8), (0, 5)], [(1, 1), (1, 17)], [(5, 2), (2, 0)]], ids=str)
def test_attention_of_sequences_of_several_lengths(paged, case, lengths):
    check_attention(paged, lengths, torch.float32, **CASES[case])


def test_attention_in_narrow_types(dtype):
    check_attention(True, [(1, 9), (4, 6)], dtype, causal=True)


def check_attention(paged, lengths, dtype, causal=False, left=-1, right=-1, softcap=0.0, slopes=None):
    heads, groups, size, block = 4, 2, 8, 4
    slopes = torch.rand(heads) if slopes else None
    q = torch.randn(sum(each for each, _ in lengths) + 2, heads, size, dtype=dtype)  # two rows of padding
    k, v = (torch.randn(sum(each for _, each in lengths), groups, size, dtype=dtype) for _ in range(2))
    starts = [torch.tensor([0, *torch.tensor(each).cumsum(0).tolist()], dtype=torch.int32) for each in zip(*lengths)]
    used = torch.tensor([each for _, each in lengths], dtype=torch.int32)
    given, table = (k, v), None
    if paged:
        count = sum(-(-each // block) for _, each in lengths)
        order = torch.randperm(count + 1)
        table = torch.zeros(len(lengths), max(1, max(-(-each // block) for _, each in lengths)), dtype=torch.int32)
        given, taken = tuple(torch.full((count + 1, block, groups, size), torch.nan, dtype=dtype) for _ in range(2)), 0
        for i, (_, keys) in enumerate(lengths):
            for j in range(keys):
                if j % block == 0:
                    table[i, j // block] = order[taken]
                    taken += 1
                for pages, tokens in zip(given, (k, v), strict=True):
                    pages[table[i, j // block], j % block] = tokens[starts[1][i] + j]
    out = torch.full_like(q, 77.0)
    returned, sums = attention.varlen_fwd(
        q, *given, out, starts[0], starts[1], used if paged else None, None, table, slopes,
        9, 17, 0.0, 0.3, False, causal, left, right, softcap, False, 0, None,
    )  # fmt: skip
    assert returned is out
    assert bool((out[-2:] == 77.0).all())
    for i in range(len(lengths)):
        rows = slice(int(starts[0][i]), int(starts[0][i + 1]))
        keys = slice(int(starts[1][i]), int(starts[1][i + 1]))
        wanted, total = attended(q[rows], k[keys], v[keys], 0.3, causal, left, right, softcap, slopes)
        near(out[rows], wanted, dtype)
        near(sums[:, rows], total, dtype)
    shapes = attention.varlen_fwd_shapes(q.to("meta"), None, None, None)
    assert [(each.shape, each.dtype) for each in shapes] == [(each.shape, each.dtype) for each in (out, sums)]


@pytest.mark.parametrize("named", [{"p_dropout": 0.1}, {"leftpad_k": torch.zeros(1)}], ids=str)
def test_what_attention_does_not_do_is_refused_by_name(named):
    x = torch.zeros(1, 1, 8)
    words = {
        "q": x, "k": x, "v": x, "out": None, "cu_seqlens_q": None, "cu_seqlens_k": None, "seqused_k": None, "leftpad_k": None,
        "block_table": None, "alibi_slopes": None, "max_seqlen_q": 1, "max_seqlen_k": 1, "p_dropout": 0.0, "softmax_scale": 1.0,
        "zero_tensors": False, "is_causal": True, "window_size_left": -1, "window_size_right": -1, "softcap": 0.0,
        "return_softmax": False, "num_splits": 0, "gen": None,
    }  # fmt: skip
    with pytest.raises(NotImplementedError, match="_vllm_fa2_C::varlen_fwd"):
        attention.varlen_fwd(**{**words, **named})


def test_merged_attention_is_that_over_all_keys():
    q, k, v = torch.randn(3, 2, 8), torch.randn(7, 2, 8), torch.randn(7, 2, 8)
    rules = (0.5, False, -1, -1, 0.0, None)
    parts = [attended(q, k[part], v[part], *rules) for part in (slice(0, 4), slice(4, 7))]
    whole, total = attended(q, k, v, *rules)
    parts[0][1][:, 2] = math.inf  # the third token has no prefix: FlashAttention says inf
    parts[0][0][2] = math.nan
    whole[2], total[:, 2] = parts[1][0][2], parts[1][1][:, 2]
    output, sums = torch.empty(3, 2, 8), torch.empty(2, 3)
    attention.merge_attn_states(output, sums, *parts[0], *parts[1])
    near(output, whole)
    near(sums, total)


# Experts.


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("renormalize", [True, False])
@pytest.mark.parametrize("name", ["topk_softmax", "topk_sigmoid"])
def test_the_choice_of_experts(name, renormalize, biased):
    tokens, count, k = 6, 8, 3
    logits, bias = torch.randn(tokens, count), torch.randn(count) if biased else None
    weights, chosen, rows = (
        torch.empty(tokens, k),
        torch.empty(tokens, k, dtype=torch.int32),
        torch.empty(tokens, k, dtype=torch.int32),
    )
    soft = name == "topk_softmax"
    experts.KERNELS[f"_moe_C::{name}"](weights, chosen, rows, logits, renormalize, bias, *(() if soft else (2.5,)))
    for token, row in enumerate(logits.double().tolist()):
        all_of = sum(math.exp(each) for each in row)
        scores = [math.exp(each) / all_of if soft else 1 / (1 + math.exp(-each)) for each in row]
        order = sorted(range(count), key=lambda i: -(scores[i] + (float(bias[i]) if biased else 0)))[:k]
        total = sum(scores[i] for i in order) if renormalize else 1.0
        assert chosen[token].tolist() == order
        near(weights[token], torch.tensor([scores[i] / total * (1.0 if soft else 2.5) for i in order]))
        assert rows[token].tolist() == [i * tokens + token for i in range(k)]


def test_outputs_of_experts_that_are_elsewhere_are_left_out():
    x, out = torch.randn(2, 3, 4), torch.empty(2, 4)
    ids = torch.tensor([[0, 2, 1], [-1, 1, 2]])
    x[0, 1], x[1, 0], x[1, 2] = torch.nan, torch.nan, torch.nan
    experts.moe_sum(x, out, ids, torch.tensor([1, 0, -1]))
    near(out, torch.stack([x[0, 0].double() + x[0, 2].double(), x[1, 1].double()]))


def test_padding_gets_no_expert_and_takes_no_place():
    weights, chosen, rows = torch.ones(3, 2), torch.empty(3, 2, dtype=torch.int32), torch.empty(3, 2, dtype=torch.int32)
    experts.topk_softmax(weights, chosen, rows, torch.randn(3, 4), True, None, torch.tensor([False, True, False]))
    assert chosen[1].tolist() == [-1, -1]
    assert weights[1].tolist() == [0, 0]
    assert int((chosen >= 0).sum()) == 4
    places, blocks, used = (
        torch.empty(16, dtype=torch.int32),
        torch.empty(8, dtype=torch.int32),
        torch.zeros(1, dtype=torch.int32),
    )
    experts.moe_align_block_size(chosen, 4, 2, places, blocks, used)
    assert sorted(each for each in places.tolist() if each < 6) == [0, 1, 4, 5]


@pytest.mark.parametrize("mapped", [None, [2, -1, 0, 1, -1]])
def test_choices_are_ordered_by_expert_in_whole_blocks(mapped):
    count, block = 5, 4
    ids = torch.randint(0, count, (7, 2), dtype=torch.int32)
    places, blocks, used = (
        torch.full((40,), -9, dtype=torch.int32),
        torch.full((10,), -9, dtype=torch.int32),
        torch.zeros(1, dtype=torch.int32),
    )
    experts.moe_align_block_size(
        ids, count, block, places, blocks, used, None if mapped is None else torch.tensor(mapped, dtype=torch.int32)
    )
    wanted, of = [], []
    flat = ids.flatten().tolist()
    local = [each if mapped is None else mapped[each] for each in flat]
    for expert in range(count):
        mine = [i for i, each in enumerate(local) if each == expert]
        mine += [len(flat)] * (-len(mine) % block)
        wanted += mine
        of += [expert] * (len(mine) // block)
    assert int(used) == len(wanted)
    assert places[: len(wanted)].tolist() == wanted
    assert set(places[len(wanted) :].tolist()) <= {len(flat)}
    assert blocks[: len(of)].tolist() == of


def test_outputs_of_experts_are_added_up(dtype):
    x = torch.randn(4, 3, 6, dtype=dtype)
    out = torch.empty(4, 6, dtype=dtype)
    experts.moe_sum(x, out)
    near(out, x.double().sum(1), dtype)


@pytest.mark.parametrize("call", [
    lambda x: experts.moe_align_block_size(x, 1, 1, x, x, x, None, x),
])  # fmt: skip
def test_what_experts_do_not_do_is_refused_by_name(call):
    with pytest.raises(NotImplementedError, match="_moe_C::"):
        call(torch.zeros(1, 1))


def test_penalties_of_words_that_were_seen():
    logits = torch.tensor([[2.0, -2.0, 3.0, 0.0], [1.0, 1.0, -1.0, 4.0]])
    prompt = torch.tensor([[True, True, False, False], [False, False, False, False]])
    output = torch.tensor([[False, False, False, True], [False, True, True, False]])
    sampling.apply_repetition_penalties_(logits, prompt, output, torch.tensor([2.0, 4.0]))
    assert logits.tolist() == [[1.0, -4.0, 3.0, 0.0], [1.0, 0.25, -4.0, 4.0]]
