"""Random numbers of `cuda`: those that NVIDIA cards gave to others, and those that the published algorithms say."""

import ctypes
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from anywarp.frameworks.torch import load

pytestmark = pytest.mark.torch

CASES = Path(__file__).parents[2] / "cases" / "torch" / "random_recordings.tsv"
H100 = (132, 2048)


def recordings():
    for line in CASES.read_text().splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


@pytest.fixture
def follow():
    """A function that chooses the card; the default one is back afterwards."""

    def choose(multiprocessors, threads):
        assert load.library.awt_random_card(1, multiprocessors, threads) == 0

    yield choose
    choose(*H100)


def philox(seed, counter, thread):
    """Philox4x32-10 as its paper defines it (Salmon and others, SC11), over arrays of 64-bit counters and threads."""
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    counter, thread = np.broadcast_arrays(np.asarray(counter, np.uint64), np.asarray(thread, np.uint64))
    words = [counter & low, counter >> shift, thread & low, thread >> shift]
    keys = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(10):
        first, second = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            (second >> shift) ^ words[1] ^ keys[0],
            second & low,
            (first >> shift) ^ words[3] ^ keys[1],
            first & low,
        ]
        keys = [(keys[0] + np.uint64(0x9E3779B9)) & low, (keys[1] + np.uint64(0xBB67AE85)) & low]
    return words


def words_of(seed, offset, elements, threads, per_draw):
    """The four words that each element's thread draws, and which of its `per_draw` values is the element's."""
    index = np.arange(elements, dtype=np.uint64)
    draw, rest = index // np.uint64(threads * per_draw), index % np.uint64(threads * per_draw)
    return np.array(philox(seed, np.uint64(offset // 4) + draw, rest % np.uint64(threads))), rest // np.uint64(threads)


def uniforms(seed, offset, elements, threads=1 << 40):
    words, which = words_of(seed, offset, elements, threads, 4)
    word = np.take_along_axis(words, which[None].astype(np.int64), 0)[0]
    return (word.astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)).astype(np.float32)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        # Known answers for philox4x32-10 of Random123, the authors' own library.
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_known_answers(counter, key, expected):
    out = (ctypes.c_uint32 * 4)()
    wide = [ctypes.c_uint64(pair[0] | pair[1] << 32) for pair in (key, counter[:2], counter[2:])]
    load.library.awt_random_words(*wide, out)
    assert tuple(out) == expected
    assert [int(word) for word in philox(wide[0].value, wide[1].value, wide[2].value)] == list(expected)


@pytest.mark.parametrize("case", list(recordings()), ids=lambda case: " ".join(case[:5]))
def test_a_seed_gives_what_a_card_gave(case, follow):
    what, seed, card, shape, first, values, _source = case
    if card != "any":
        follow(*map(int, card.split("x")))
    sizes = [int(size) for size in shape.split("x")]
    generator = torch.Generator("cuda").manual_seed(int(seed))
    if what == "normal":
        found = torch.empty(sizes, device="cuda").normal_(5, 5**0.5, generator=generator)
    else:
        found = getattr(torch, what)(sizes, device="cuda", generator=generator)
    expected = torch.tensor([float(value) for value in values.split()])
    begin = int(first)
    torch.testing.assert_close(found.flatten()[begin : begin + len(expected)].cpu(), expected, atol=6e-5, rtol=0)


def test_dropout_drops_what_a_card_dropped(follow):
    # github.com/intel/torch-xpu-ops/issues/2926, printed on a 4080 Super (80 multiprocessors, 1536 threads each).
    follow(80, 1536)
    torch.cuda.manual_seed_all(1)
    dropped = (torch.nn.functional.dropout(torch.ones(512 * 4 * 1024, device="cuda"), 0.1) == 0).nonzero().flatten()
    assert dropped[:3].tolist() == [8, 14, 20]
    assert dropped[-3:].tolist() == [2097121, 2097140, 2097151]


def test_layers_begin_with_the_weights_of_a_card():
    # github.com/mrdbourke/pytorch-deep-learning/issues/759: the second draw begins where the first left the offset.
    torch.manual_seed(42)
    layer = torch.nn.Linear(1, 1, device="cuda")
    assert [round(layer.weight.item(), 4), round(layer.bias.item(), 4)] == [0.2259, 0.9754]


@pytest.mark.parametrize("elements", [1, 255, 256, 257, 1025, 5000])
def test_uniforms_are_philox_words_in_the_order_of_the_launch(elements, follow):
    follow(1, 512)  # at most 512 threads: elements from 512 on take the other words, then the next counter
    threads = min(512, (elements + 255) // 256 * 256)
    generator = torch.Generator("cuda").manual_seed(123456789012345)
    generator.set_offset(40)
    found = torch.rand(elements, device="cuda", generator=generator)
    drawn = uniforms(123456789012345, 40, elements, threads)
    np.testing.assert_array_equal(found.cpu().numpy(), np.where(drawn == 1, np.float32(0), drawn))
    assert generator.get_offset() == 40 + 4 * math.ceil(elements / (threads * 4))


def test_doubles_take_two_words_each(follow):
    follow(1, 256)
    found = torch.rand(700, device="cuda", dtype=torch.double, generator=torch.Generator("cuda").manual_seed(7))
    words, which = words_of(7, 0, 700, 256, 2)
    low, high = np.where(which == 0, words[0], words[2]), np.where(which == 0, words[1], words[3])
    expected = (low ^ high << np.uint64(21)).astype(np.float64) * 2.0**-53 + 2.0**-54
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_normals_are_box_muller_of_the_words(kind, follow):
    follow(1, 256)
    found = torch.randn(1100, device="cuda", dtype=kind, generator=torch.Generator("cuda").manual_seed(7)).cpu().numpy()
    if kind == torch.float32:
        words, which = words_of(7, 0, 1100, 256, 4)
        radius, angle = (np.where(which < 2, words[k], words[k + 2]) * 2.0**-32 + 2.0**-33 for k in (0, 1))
        sine = which % 2 == 0
    else:
        words, which = words_of(7, 0, 1100, 256, 2)
        radius, angle = ((words[k] ^ words[k + 1] << np.uint64(21)) * 2.0**-53 + 2.0**-54 for k in (0, 2))
        sine = which == 0
    turn = np.where(sine, np.sin(2 * np.pi * angle), np.cos(2 * np.pi * angle))
    tolerance = 3e-6 if kind == torch.float32 else 1e-13
    np.testing.assert_allclose(found, np.sqrt(-2 * np.log(radius)) * turn, atol=tolerance, rtol=0)


def test_integers_are_words_modulo_the_range():
    words, _ = words_of(11, 0, 500, 1 << 40, 4)
    found = torch.randint(-3, 1000, (500,), device="cuda", generator=torch.Generator("cuda").manual_seed(11))
    np.testing.assert_array_equal(found.cpu().numpy(), (words[0] % np.uint64(1003)).astype(np.int64) - 3)
    wide = torch.randint(0, 1 << 40, (500,), device="cuda", generator=torch.Generator("cuda").manual_seed(11))
    pair = words[0] << np.uint64(32) | words[1]
    np.testing.assert_array_equal(wide.cpu().numpy(), (pair % np.uint64(1 << 40)).astype(np.int64))


def test_distributions_are_those_of_the_uniforms():
    def generator():
        return torch.Generator("cuda").manual_seed(5)

    drawn = uniforms(5, 0, 3000).astype(np.float64)
    where = torch.empty(3000, device="cuda")

    def close(found, expected, rtol=2e-6):
        np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=rtol, atol=1e-30)

    close(where.exponential_(2.0, generator=generator()), -np.log(drawn) / 2, rtol=1e-5)
    close(where.geometric_(0.25, generator=generator()), np.ceil(np.log(drawn) / math.log1p(-0.25)))
    close(where.bernoulli_(0.3, generator=generator()), drawn < np.float32(0.3))
    inner = (drawn > 0.01) & (drawn < 0.99)
    close(
        where.cauchy_(1, 2, generator=generator())[torch.from_numpy(inner).cuda()],
        (1 + 2 * np.tan(np.pi * (drawn - 0.5)))[inner],
        1e-3,
    )
    close(where.uniform_(-2, 3, generator=generator()), drawn * 5 - 2, rtol=1e-4)


def test_a_share_per_element_decides_four_elements_with_one_draw():
    shares = torch.linspace(0, 1, 1000, device="cuda")
    found = torch.bernoulli(shares, generator=torch.Generator("cuda").manual_seed(3))
    words = np.array(philox(3, 0, np.arange(250)))
    drawn = (words.T.reshape(-1).astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)).astype(np.float32)
    np.testing.assert_array_equal(found.cpu().numpy(), drawn <= shares.cpu().numpy())


def test_memory_order_decides_where_a_value_goes():
    def fill(tensor):
        return tensor.uniform_(generator=torch.Generator("cuda").manual_seed(9)).cpu()

    plain = fill(torch.empty(24, device="cuda"))
    assert torch.equal(fill(torch.empty(6, 4, device="cuda").t()).t().flatten(), plain)
    image = torch.empty(2, 3, 2, 2, device="cuda", memory_format=torch.channels_last)
    assert torch.equal(fill(image).permute(0, 2, 3, 1).flatten(), plain)
    assert torch.equal(fill(torch.zeros(4, 12, device="cuda")[:, ::2]).flatten(), plain)
    assert torch.equal(fill(torch.zeros(2, 6, 8, device="cuda")[:, ::2, ::2]).flatten(), plain)
    with pytest.raises(
        RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"
    ):
        torch.zeros(1, device="cuda").expand(3).uniform_()


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_narrow_types_round_the_float_values(kind):
    def drawn(dtype):
        return torch.rand(1000, device="cuda", dtype=dtype, generator=torch.Generator("cuda").manual_seed(2)).cpu()

    rounded = drawn(torch.float32).to(kind)
    assert torch.equal(drawn(kind), torch.where(rounded == 1, 0, rounded))


def test_permutations_are_the_order_of_the_keys():
    # Torch's note "Algorithm of randperm": keys of as few bits as keep equal ones rare; runs of equal keys are shuffled by the
    # numbers of the thread at their beginning (Randperm.cuh), drawn after the keys.
    size, bits = 60, 15  # ceil(log2(60 - (6 * 60**2 + 1) / (12 * log(0.9))))
    shuffled = 0
    for seed in range(100):
        words, _ = words_of(seed, 0, size, 1 << 40, 4)
        pair = words[0] << np.uint64(32) | words[1]
        keys = ((pair % np.uint64(2**32 - 1)).astype(np.int64) - 2**31) & ((1 << bits) - 1)
        expected = np.argsort(keys, kind="stable")
        ordered = keys[expected]
        for first in np.flatnonzero(ordered[1:] == ordered[:-1]):
            assert (ordered == ordered[first]).sum() == 2  # a run of two: one number decides
            if int(philox(seed, 1, int(first))[0]) % 2 == 0:
                expected[[first, first + 1]] = expected[[first + 1, first]]
                shuffled += 1
        found = torch.randperm(size, device="cuda", generator=torch.Generator("cuda").manual_seed(seed))
        assert found.tolist() == expected.tolist()
    assert shuffled > 0


@pytest.mark.parametrize("size", [0, 1, 2, 1000, 100_000])
def test_permutations_hold_each_index_once(size):
    found = torch.randperm(size, device="cuda")
    assert torch.equal(found.sort().values, torch.arange(size, device="cuda"))


def test_small_permutations_are_equally_frequent():
    torch.manual_seed(0)
    seen = torch.stack([torch.randperm(3, device="cuda") for _ in range(3000)]).cpu() @ torch.tensor([9, 3, 1])
    counts = seen.unique(return_counts=True)[1]
    assert len(counts) == 6
    assert ((counts - 500) ** 2 / 500).sum() < 25  # chi-square of 5 degrees of freedom: 1 in 7000 by chance


@pytest.mark.skipif(not hasattr(torch.ops.aten, "_philox_uniform_"), reason="this torch has no keys")
def test_keys_are_streams_of_their_own():
    # torch.func._random; ATen/cuda/StatelessPhilox4x32.cuh: the offset is the counter itself where keys are derived.
    key = torch.tensor([77, 6], dtype=torch.uint64, device="cuda")
    words = [int(word) for word in philox(77, 6 + 3, 0)]
    derived = [words[0] | words[1] << 32, words[2] | words[3] << 32]
    assert torch.ops.aten._philox_key_fold_in(key, 3).tolist() == derived
    assert torch.ops.aten._philox_key_split(key, 4)[3].tolist() == derived

    def stream(begin, count):
        number = np.arange(begin, begin + count, dtype=np.uint64)
        return np.take_along_axis(
            np.array(philox(77, number // np.uint64(4), 0)), (number % np.uint64(4)).astype(np.int64)[None], 0
        )[0]

    found = torch.ops.aten._philox_uniform_(torch.empty(50, device="cuda"), key)
    np.testing.assert_array_equal(
        found.cpu().numpy(), (stream(6, 50) & np.uint64(0xFFFFFF)).astype(np.float32) * np.float32(2**-24)
    )
    wide = torch.ops.aten._philox_uniform_(torch.empty(25, dtype=torch.double, device="cuda"), key).cpu().numpy()
    pairs = stream(6, 50).reshape(25, 2)
    bits = (pairs[:, 0] << np.uint64(32) | pairs[:, 1]) & np.uint64(2**53 - 1)
    np.testing.assert_array_equal(wide, bits.astype(np.float64) * 2.0**-53)
    # Normals pair the same words wherever the stream is entered.
    whole = torch.ops.aten._philox_normal_(
        torch.empty(40, device="cuda"), torch.tensor([77, 0], dtype=torch.uint64, device="cuda")
    )
    part = torch.ops.aten._philox_normal_(torch.empty(34, device="cuda"), key)
    assert torch.equal(part, whole[6:])
    batch = torch.stack([key, key])[:, None]
    assert torch.equal(torch.ops.aten._philox_uniform_(torch.empty(2, 50, device="cuda"), batch)[1], found)
    with pytest.raises(RuntimeError, match="key must have dtype uint64"):
        torch.ops.aten._philox_uniform_(torch.empty(3, device="cuda"), torch.zeros(2, device="cuda"))


def test_gamma_numbers_come_from_each_elements_own_stream():
    # Marsaglia and Tsang (2000) with Box-Muller pairs and uniforms of one stream, as ATen/native/Distributions.h has it.
    alpha, seed = 2.5, 8
    d = alpha - 1 / 3
    c = 1 / math.sqrt(9 * d)

    def sample(thread):
        words = (int(word) for counter in range(100) for word in philox(seed, counter, thread))
        spare = []

        def normal():
            if not spare:
                radius, angle = (next(words) * 2.0**-32 + 2.0**-33 for _ in range(2))
                length = math.sqrt(-2 * math.log(radius))
                spare.extend((length * math.cos(2 * math.pi * angle), length * math.sin(2 * math.pi * angle)))
            return spare.pop()

        while True:
            while (x := normal()) * c <= -1:
                pass
            v, u = (1 + c * x) ** 3, 1 - (next(words) * 2.0**-32 + 2.0**-33)
            if u < 1 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d * (1 - v + math.log(v)):
                return d * v

    found = torch._standard_gamma(
        torch.full((200,), alpha, device="cuda"), generator=torch.Generator("cuda").manual_seed(seed)
    )
    np.testing.assert_allclose(found.cpu().numpy(), [sample(thread) for thread in range(200)], rtol=1e-5)
