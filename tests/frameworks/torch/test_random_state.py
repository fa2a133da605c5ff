"""The state of `cuda`'s generators: 16 bytes as on a GPU, and everything that saves, restores or shares it."""

import struct

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from anywarp.frameworks.torch import load

pytestmark = pytest.mark.torch

OPERATORS = {
    "rand": lambda: torch.rand(5, device="cuda"),
    "rand complex": lambda: torch.rand(5, device="cuda", dtype=torch.complex64),
    "randn": lambda: torch.randn(5, device="cuda"),
    "randn complex": lambda: torch.randn(5, device="cuda", dtype=torch.complex64),
    "randint": lambda: torch.randint(0, 1 << 20, (5,), device="cuda"),
    "randperm": lambda: torch.randperm(50, device="cuda"),
    "rand_like": lambda: torch.rand_like(torch.empty(5, device="cuda")),
    "randn_like": lambda: torch.randn_like(torch.empty(5, device="cuda")),
    "randint_like": lambda: torch.randint_like(torch.empty(5, device="cuda"), 1 << 20),
    "normal": lambda: torch.normal(torch.zeros(5, device="cuda"), torch.ones(5, device="cuda")),
    "normal size": lambda: torch.normal(0.0, 1.0, (5,), device="cuda"),
    "bernoulli": lambda: torch.bernoulli(torch.full((50,), 0.5, device="cuda")),
    "bernoulli p": lambda: torch.bernoulli(torch.empty(50, device="cuda"), 0.5),
    "dropout": lambda: torch.nn.functional.dropout(torch.ones(50, device="cuda")),
    "alpha dropout": lambda: torch.nn.functional.alpha_dropout(torch.ones(50, device="cuda"), training=True),
    "feature dropout": lambda: torch.nn.functional.dropout2d(torch.ones(1, 50, 2, 2, device="cuda")),
    "rrelu": lambda: torch.nn.functional.rrelu(-torch.ones(5, device="cuda"), training=True),
    "multinomial": lambda: torch.multinomial(torch.ones(1000, device="cuda"), 3),
    "multinomial again": lambda: torch.multinomial(torch.ones(1000, device="cuda"), 3, replacement=True),
    "poisson": lambda: torch.poisson(torch.full((5,), 1000.0, device="cuda")),
    "binomial": lambda: torch.binomial(torch.full((5,), 1000.0, device="cuda"), torch.full((5,), 0.5, device="cuda")),
    "gamma": lambda: torch._standard_gamma(torch.full((5,), 2.0, device="cuda")),
    "dirichlet": lambda: torch._sample_dirichlet(torch.full((5,), 2.0, device="cuda")),
    "exponential": lambda: torch.empty(5, device="cuda").exponential_(),
    "cauchy": lambda: torch.empty(5, device="cuda").cauchy_(),
    "log normal": lambda: torch.empty(5, device="cuda").log_normal_(),
    "geometric": lambda: torch.empty(50, device="cuda").geometric_(0.1),
    "random": lambda: torch.empty(5, device="cuda", dtype=torch.int64).random_(),
    "gumbel": lambda: torch.nn.functional.gumbel_softmax(torch.zeros(5, device="cuda")),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_a_seed_repeats_and_the_state_goes_on(name):
    draw = OPERATORS[name]
    torch.cuda.manual_seed(3)
    first, middle, second = draw(), torch.cuda.get_rng_state(), draw()
    assert first.device.type == "cuda"
    assert not torch.equal(first, second)
    torch.cuda.manual_seed(3)
    assert torch.equal(draw(), first)
    torch.cuda.set_rng_state(middle)
    assert torch.equal(draw(), second)


def test_drawing_on_cuda_leaves_the_cpu_alone_and_the_other_way_round():
    before = torch.get_rng_state()
    for draw in OPERATORS.values():
        draw()
    assert torch.equal(torch.get_rng_state(), before)
    on_device = torch.cuda.get_rng_state()
    torch.rand(5)
    assert torch.equal(torch.cuda.get_rng_state(), on_device)


def test_the_state_is_seed_and_offset_in_16_bytes():
    torch.cuda.manual_seed(0x1122334455667788)
    torch.rand(5, device="cuda")
    state = torch.cuda.get_rng_state()
    assert state.device.type == "cpu"
    assert bytes(state.tolist()) == struct.pack("=QQ", 0x1122334455667788, 4)
    # A state as a checkpoint made on a GPU holds it.
    torch.cuda.set_rng_state(torch.tensor(list(struct.pack("=QQ", 42, 0)), dtype=torch.uint8))
    assert torch.cuda.initial_seed() == 42
    assert round(torch.rand(1, device="cuda").item(), 4) == 0.6130  # tests/cases/torch/random_recordings.tsv
    # Older checkpoints hold the seed alone.
    torch.cuda.set_rng_state(torch.tensor(list(struct.pack("=Q", 42)), dtype=torch.uint8))
    assert torch.cuda.default_generators[0].get_offset() == 0


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (torch.zeros(7, dtype=torch.uint8), "RNG state is wrong size"),
        (torch.zeros(5056, dtype=torch.uint8), "RNG state is wrong size"),
        (torch.zeros(32, dtype=torch.uint8)[::2], "RNG state must be contiguous"),
        (torch.tensor([0] * 8 + [1] + [0] * 7, dtype=torch.uint8), "offset must be a multiple of 4"),
    ],
    ids=["short", "of the CPU", "with holes", "odd offset"],
)
def test_states_that_are_none_are_refused_and_change_nothing(state, words):
    torch.cuda.manual_seed(9)
    with pytest.raises(RuntimeError, match=words):
        torch.cuda.default_generators[0].set_state(state)
    assert bytes(torch.cuda.get_rng_state().tolist()) == struct.pack("=QQ", 9, 0)
    with pytest.raises(TypeError, match=r"RNG state must be a torch\.ByteTensor"):
        torch.cuda.default_generators[0].set_state(torch.zeros(16, dtype=torch.int8))


def test_generators_of_their_own():
    generator = torch.Generator("cuda")
    assert (generator.device, generator.initial_seed()) == (torch.device("cuda:0"), 67280421310721)
    generator.manual_seed(5)
    first = torch.rand(4, device="cuda", generator=generator)
    assert generator.get_offset() == 4
    generator.set_offset(0)
    assert torch.equal(torch.rand(4, device="cuda", generator=generator), first)
    with pytest.raises(RuntimeError, match="offset must be a multiple of 4"):
        generator.set_offset(3)
    copy = generator.clone_state()
    assert torch.equal(torch.rand(4, device="cuda", generator=copy), torch.rand(4, device="cuda", generator=generator))
    assert generator.seed() == generator.initial_seed() != 5


def test_a_shared_state_moves_for_both():
    generator = torch.Generator("cuda").manual_seed(1)
    counterpart = generator.graphsafe_get_state()
    torch.rand(3, device="cuda", generator=counterpart)
    assert generator.get_offset() == 4
    other = torch.Generator("cuda").manual_seed(2)
    generator.graphsafe_set_state(other)
    assert generator.initial_seed() == 2
    with pytest.raises(RuntimeError, match="Expected a CUDA Generator"):
        generator.graphsafe_set_state(torch.Generator())


def test_a_generator_of_another_device_is_refused_in_torchs_words():
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        torch.rand(3, device="cuda", generator=torch.Generator())
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        torch.poisson(torch.ones(3, device="cuda"), generator=torch.Generator())
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
        torch.rand(3, generator=torch.Generator("cuda"))


def test_forks_and_checkpoints_bring_the_state_back():
    torch.cuda.manual_seed(4)
    with torch.random.fork_rng():
        inside = torch.rand(3, device="cuda")
    assert torch.equal(torch.rand(3, device="cuda"), inside)
    assert [len(state) for state in torch.cuda.get_rng_state_all()] == [16] * torch.cuda.device_count()

    def layer(x):
        return torch.nn.functional.dropout(x, 0.5) * x

    x = torch.randn(100, device="cuda", requires_grad=True)
    out = checkpoint(layer, x, use_reentrant=False)
    (grad,) = torch.autograd.grad(out.sum(), x)
    assert torch.equal(grad != 0, out.detach() != 0)  # the same elements were dropped again


def test_dropout_keeps_its_mask_for_the_gradient():
    x = torch.randn(1000, device="cuda", dtype=torch.double, requires_grad=True)
    out, mask = torch.native_dropout(x, 0.25, True)
    (grad,) = torch.autograd.grad(out.sum(), x)
    torch.testing.assert_close(grad, mask.double() / 0.75)
    torch.testing.assert_close(out, x * mask / 0.75)
    assert 0.65 < mask.double().mean().item() < 0.85
    kept, all_true = torch.native_dropout(x, 0.25, False)
    assert torch.equal(kept, x)
    assert all_true.all()


@pytest.mark.parametrize("shape", [(3, 5), (4, 8), (2, 6)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_dropout_of_odd_sizes_and_strides(shape, dtype):
    for x in (
        torch.ones(shape, device="cuda", dtype=dtype).t(),
        torch.ones(*shape, 2, device="cuda", dtype=dtype)[..., 0],
    ):
        out, mask = torch.native_dropout(x, 0.5, True)
        assert out.shape == mask.shape == x.shape
        assert torch.equal(out, mask.to(dtype) * 2)


def test_shares_outside_0_to_1_stop_as_an_assert_on_the_device_does():
    with pytest.raises(RuntimeError, match="device-side assert triggered"):
        torch.bernoulli(torch.tensor([0.5, 1.5], device="cuda"))
    with pytest.raises(RuntimeError, match="bernoulli_ expects p to be in"):
        torch.empty(3, device="cuda").bernoulli_(1.5)
    with pytest.raises(RuntimeError, match="probability tensor contains either `inf`, `nan` or element < 0"):
        torch.multinomial(torch.tensor([0.5, -1.0], device="cuda"), 1)


def test_samples_follow_their_distributions():
    torch.cuda.manual_seed(0)
    weights = torch.tensor([0.1, 0.0, 0.6, 0.3], device="cuda")
    for samples in (
        torch.multinomial(weights, 20000, replacement=True),
        torch.multinomial(weights.expand(20000, 4), 1).flatten(),
    ):
        shares = samples.bincount(minlength=4) / 20000
        torch.testing.assert_close(shares, weights, atol=0.02, rtol=0)
        assert shares[1] == 0
    assert sorted(torch.multinomial(weights, 3).tolist()) == [0, 2, 3]
    for draw, mean, spread in (
        (torch.poisson(torch.full((20000,), 4.0, device="cuda")), 4, 2),
        (torch._standard_gamma(torch.full((20000,), 9.0, device="cuda")), 9, 3),
        (
            torch.binomial(torch.full((20000,), 20.0, device="cuda"), torch.full((20000,), 0.5, device="cuda")),
            10,
            5**0.5,
        ),
    ):
        assert abs(draw.mean().item() - mean) < 6 * spread / 20000**0.5
        assert abs(draw.std().item() - spread) < 0.1 * spread


def test_the_cpus_values_can_be_asked_for():
    try:
        assert load.library.awt_random_card(0, 132, 2048) == 0
        for draw in OPERATORS.values():
            torch.cuda.manual_seed(3)
            first = draw()
            torch.cuda.manual_seed(3)
            assert torch.equal(draw(), first)
        torch.cuda.manual_seed(0)
        assert [round(each, 4) for each in torch.rand(2, device="cuda").tolist()] != [0.3990, 0.5167]
        assert len(torch.cuda.get_rng_state()) == 16
    finally:
        load.library.awt_random_card(1, 132, 2048)


def test_numbers_that_no_card_has_are_refused():
    assert load.library.awt_random_card(1, 0, 2048) == -1
    assert load.library.awt_random_card(1, 132, 10**9) == -1


def test_a_bad_setting_is_named(under_anywarp):
    done = under_anywarp("-c", "import torch; torch.rand(1, device='cuda')", env={"ANYWARP_TORCH_RANDOM": "philox:1"})
    assert done.returncode != 0
    assert "ANYWARP_TORCH_RANDOM='philox:1'" in done.stderr


def test_seeding_before_first_use_counts(under_anywarp):
    code = "import torch; torch.manual_seed(42); print(round(torch.rand(1, device='cuda').item(), 4))"
    assert under_anywarp("-c", code).stdout.split() == ["0.613"]


def test_graphs_draw_from_the_state_of_each_replay():
    torch.cuda.manual_seed(1)
    eager = [torch.rand(5, device="cuda") for _ in range(3)]
    torch.cuda.manual_seed(1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        drawn = torch.rand(5, device="cuda")
        with pytest.raises(
            RuntimeError, match="Cannot call CUDAGeneratorImpl::set_current_seed during CUDA graph capture"
        ):
            torch.cuda.manual_seed(3)
    assert torch.cuda.default_generators[0].get_offset() == 0  # a capture takes nothing
    for expected in eager:
        graph.replay()
        assert torch.equal(drawn, expected)
    assert torch.cuda.default_generators[0].get_offset() == 12


def test_graphs_know_the_generators_that_they_were_told_of():
    generator = torch.Generator("cuda").manual_seed(9)
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        torch.ones(3, device="cuda")
        with pytest.raises(RuntimeError, match="Attempt to increase offset for a CUDA generator not in capture mode"):
            torch.rand(3, device="cuda", generator=generator)
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(generator)
    with torch.cuda.graph(graph):
        drawn = torch.rand(3, device="cuda", generator=generator)
    graph.replay()
    assert torch.equal(drawn, torch.rand(3, device="cuda", generator=torch.Generator("cuda").manual_seed(9)))
    assert generator.get_offset() == 4
