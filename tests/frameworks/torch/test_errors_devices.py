"""What CUDA refuses is refused in CUDA's words, before anything is computed."""

import pytest
import torch
import torch.nn.functional as F

pytestmark = pytest.mark.torch

CPU, CUDA = torch.ones(3, 3), torch.ones(3, 3, device="cuda")


@pytest.mark.parametrize(
    ("run", "words"),
    [
        # Generated checks name the argument and the method; PyTorch's issues are full of them.
        (
            lambda: CUDA @ CPU,
            "got mat2 is on cpu, different from other tensors on cuda:0 "
            r"\(when checking argument in method wrapper_CUDA_mm\)",
        ),
        (
            lambda: F.linear(CUDA, CPU, CUDA[0]),
            "got mat2 is on cpu, different from other tensors on cuda:0 "
            r"\(when checking argument in method wrapper_CUDA_addmm\)",
        ),
        (
            lambda: F.embedding(torch.tensor([1]), CUDA),
            "got index is on cpu, different from other tensors on cuda:0 "
            r"\(when checking argument in method wrapper_CUDA__index_select\)",
        ),
        (lambda: torch.cat([CUDA, CPU]), "got tensors is on cpu, .* wrapper_CUDA_cat"),
        (
            lambda: F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2, device="cuda")),
            None,
        ),
        # Operators over iterators find it themselves.
        (lambda: CUDA + CPU, "found at least two devices, cuda:0 and cpu!"),
        (lambda: torch.where(CUDA > 0, CUDA, CPU), "found at least two devices, cuda:0 and cpu!"),
    ],
)
def test_tensors_on_two_devices(run, words):
    whole = f"Expected all tensors to be on the same device, but .*{words}"
    if words is None:
        whole = r"Input type \(torch.FloatTensor\) and weight type \(torch.cuda.FloatTensor\) should be the same"
    with pytest.raises(RuntimeError, match=whole):
        run()


INDEX, INDEX_THERE = torch.tensor([1]), torch.tensor([1], device="cuda")
ONE, ONE_THERE = torch.tensor(1.0), torch.tensor(1.0, device="cuda")
MASK = CUDA > 0
TWO = "Expected all tensors to be on the same device, but found at least two devices"
GOT = "Expected all tensors to be on the same device, but got"


@pytest.mark.parametrize(
    ("run", "words"),
    [
        # TensorAdvancedIndexing: an index may come from the host, and goes nowhere else.
        (lambda: CPU[INDEX_THERE], r"indices should be either on cpu or on the same device as the indexed tensor \(cpu\)"),
        (lambda: CPU[MASK], r"indices should be either on cpu or on the same device as the indexed tensor \(cpu\)"),
        (lambda: CUDA.index_put((INDEX,), CPU[:2]), TWO),
        (lambda: CUDA.index_put((INDEX,), CPU[:1], accumulate=True), "expected device cuda:0 but got device cpu for value"),
        # The host reads the value of masked_fill, and nothing else of it.
        (lambda: CPU.masked_fill(CPU > 0, ONE_THERE), "masked_fill_: Expected inputs to be on same device"),
        (lambda: CPU.clone().masked_fill_(MASK, 1.0), "got mask on cuda:0 and self on cpu"),
        # What is composite on CUDA says what its parts say there.
        (lambda: CUDA.masked_fill(torch.tensor(True), 1.0), "expected self and mask to be on the same device"),
        (lambda: CUDA.masked_scatter(torch.tensor(True), CUDA), f"{GOT} mask is on cpu"),
        (lambda: CUDA.index_fill(0, torch.tensor(1), 0.0), TWO),
        (lambda: torch.stack([CUDA, CPU]), f"{GOT} tensors is on cpu"),
        (lambda: F.rms_norm(CUDA, (3,), CPU[0]), f"{GOT} weight is on cpu"),
        (lambda: torch.linalg.lstsq(CUDA, CPU), f"{GOT} b is on cpu"),
        # A scalar of the host is read, never written, and only by kernels over iterators.
        (lambda: torch.tensor(1.0).add_(ONE_THERE), TWO),
        (lambda: torch.sin(ONE_THERE, out=torch.tensor(1.0)), TWO),
        (lambda: torch.add(ONE_THERE, ONE_THERE, out=torch.tensor(1.0)), TWO),
        (lambda: torch.addmm(ONE, CUDA, CUDA), f"{GOT} mat1 is on cuda:0, different from other tensors on cpu"),
        # Lists: each element by itself, as the written-out operators do it.
        (lambda: torch._foreach_add([CUDA], [CPU]), TWO),
        (lambda: torch._foreach_addcmul([CUDA], [CUDA], [CPU]), TWO),
        (
            lambda: torch._fused_sgd_(
                [CUDA.clone()], [CPU], [], weight_decay=0.0, momentum=0.0, lr=0.1,
                dampening=0.0, nesterov=False, maximize=False, is_first_step=True,
            ),
            f"{GOT} grads is on cpu",
        ),
        (
            lambda: torch.nested.nested_tensor([CUDA[0]]) + torch.nested.nested_tensor([CPU[0]]),
            TWO,
        ),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_tensors_on_two_devices_that_kernels_of_the_cpu_would_take(run, words):
    with pytest.raises(RuntimeError, match=words):
        run()


def test_results_are_where_cuda_has_them():
    assert CPU.index_put((INDEX_THERE,), ONE).device.type == "cpu"
    held = CPU.clone()
    held[INDEX_THERE] = 5.0  # indices are moved to what is written
    assert held.tolist() == [[1, 1, 1], [5, 5, 5], [1, 1, 1]]
    assert [each.device.type for each in torch._foreach_add([CUDA, CPU], [CUDA, CPU])] == ["cuda", "cpu"]
    assert CUDA.masked_fill(MASK, ONE).is_cuda
    assert CUDA.clone().bernoulli_(torch.ones(3, 3)).tolist() == CPU.tolist()
    assert torch.where(MASK, ONE, ONE).is_cuda


INTEGERS = torch.ones(2, 2, dtype=torch.int64, device="cuda")


@pytest.mark.parametrize(
    ("run", "kernel", "name"),
    [
        (lambda: INTEGERS @ INTEGERS, "addmm_cuda", "Long"),
        (lambda: F.linear(INTEGERS, INTEGERS), "addmm_cuda", "Long"),
        (lambda: torch.bmm(INTEGERS[None].int(), INTEGERS[None].int()), "baddbmm_cuda", "Int"),
        (lambda: INTEGERS @ INTEGERS[0], "addmv_impl_cuda", "Long"),
        (lambda: torch.dot(INTEGERS[0], INTEGERS[0]), "dot", "Long"),
        (lambda: F.conv2d(INTEGERS[None, None], INTEGERS[None, None]), "slow_conv2d_cuda", "Long"),
        (lambda: F.max_pool2d(INTEGERS[None], 2), "max_pool2d_with_indices_out_cuda_frame", "Long"),
        (lambda: F.avg_pool2d(INTEGERS[None], 2), "avg_pool2d_out_cuda_frame", "Long"),
    ],
)
def test_types_that_only_the_cpu_has_kernels_for(run, kernel, name):
    with pytest.raises(NotImplementedError, match=f"\"{kernel}\" not implemented for '{name}'"):
        run()


@pytest.mark.parametrize(
    "run", [lambda: torch.histogram(CUDA, 3), lambda: torch.histogramdd(CUDA[:, :2], [2, 2]), lambda: CUDA.to_mkldnn()]
)
def test_operators_that_only_the_cpu_has(run):
    with pytest.raises(NotImplementedError, match="with arguments from the 'CUDA' backend"):
        run()


def test_solvers_have_cudas_drivers():
    with pytest.raises(RuntimeError, match="parameter `driver` other than `gels` is not supported on CUDA"):
        torch.linalg.lstsq(CUDA, CUDA, driver="gelsd")
    tall = torch.tensor([[1.0, 0], [0, 2], [0, 0]], device="cuda")
    found = torch.linalg.lstsq(tall, torch.tensor([[3.0], [4], [9]], device="cuda"))
    assert found.solution.tolist() == [[3], [2]] and found.rank.numel() == 0  # gels tells no rank
    assert torch.linalg.svdvals(tall, driver="gesvd").tolist() == [2, 1]
    with pytest.raises(RuntimeError, match="unknown svd driver"):
        torch.linalg.svdvals(tall, driver="gels")


def test_memory_that_the_program_registered_is_page_locked(under_anywarp):
    done = under_anywarp(
        "-c",
        "import torch\n"
        "host, runtime = torch.ones(4096), torch.cuda.cudart()\n"
        "assert not host.is_pinned()\n"
        "assert runtime.cudaHostRegister(host.data_ptr(), host.nbytes, 0) == 0\n"
        "assert host.is_pinned() and host[5:].is_pinned() and not torch.ones(3).is_pinned()\n"
        "assert runtime.cudaHostUnregister(host.data_ptr()) == 0 and not host.is_pinned()\n",
    )
    assert done.returncode == 0, done.stderr


COMM = """
import torch
from torch.cuda import comm
x, there = torch.arange(6.0).reshape(2, 3), torch.zeros(2, 3, device="cuda:1")
def says(words, run):
    try:
        run()
    except RuntimeError as error:
        assert words in str(error), (words, str(error))
    else:
        raise AssertionError("nothing raised: " + words)
second = torch.cuda.Stream(1)
says("at least one device", lambda: comm.scatter(x, []))
says("of same length", lambda: comm.scatter(x, [0, 1], chunk_sizes=[2]))
says("stream at index 0 (was 1) to match the device supplied at that index (expected 0)",
     lambda: comm.scatter(x, [0, 1], streams=[second, None]))
says("Expected all output tensors to be CUDA tensors, but output tensor at index 0", lambda: comm.scatter(x, out=[x]))
says("Output tensor at index 0 has incorrect shape: [2, 3]. Expected same shape except for scatter dim 1",
     lambda: comm.scatter(torch.ones(4, 3), dim=1, out=[there]))
says("does not match the source tensor size at dim 0. Expected 4, but got total size 2",
     lambda: comm.scatter(torch.ones(4, 3), out=[there]))
says("has device 'cpu'", lambda: comm.gather([x]))
says("to have the same number of dimensions", lambda: comm.gather([there, there[0]]))
says("Tensor at index 1 has invalid shape [2, 2], but expected [2, 3]", lambda: comm.gather([there, there[:, :2]]))
says("non-negative device index", lambda: comm.broadcast(there, [1, -1]))
says("non-negative device index", lambda: comm.scatter(there, [1, -1]))
parts = comm.scatter(x, [1, 0], dim=-1, chunk_sizes=[1, 2], streams=[second, None])
assert [str(p.device) for p in parts] == ["cuda:1", "cuda:0"]
assert torch.equal(comm.gather(parts, dim=-1, destination="cpu"), x)
"""


def test_copies_among_devices_check_their_arguments(under_anywarp):
    done = under_anywarp("-c", COMM, env={"ANYWARP_DEVICES": "2"})
    assert done.returncode == 0, done.stderr


def test_what_may_stay_on_the_host():
    assert (CUDA + torch.tensor(1.0)).is_cuda
    assert CUDA[torch.tensor([0, 2])].shape == (2, 3)
    assert torch.add(CUDA, torch.tensor(2.0), alpha=2).is_cuda


def test_numpy_is_refused_as_on_cuda():
    with pytest.raises(TypeError, match=r"can't convert cuda:0 device type tensor to numpy\. Use Tensor\.cpu"):
        CUDA.numpy()


@pytest.mark.parametrize(
    ("run", "name"),
    [
        (lambda: torch.histc(CUDA), "_histc_cuda"),
        (lambda: torch.cumsum(CUDA, 0), "cumsum_cuda_kernel"),
        (lambda: torch.bincount(INDEX_THERE, weights=CUDA[0, :1]), "_bincount_cuda"),
        (lambda: torch.median(CUDA, 0), "median CUDA with indices output"),
        (lambda: CUDA.clone().put_(INDEX_THERE, torch.ones(1, device="cuda"), accumulate=True), "put_"),
        (lambda: CUDA.scatter_reduce(0, torch.zeros_like(CUDA).long(), CUDA, "prod"), "scatter_reduce_cuda"),
        (
            lambda: F.pad(CUDA.clone()[None, None].requires_grad_(), (1, 1, 1, 1), mode="reflect").sum().backward(),
            "reflection_pad2d_backward_cuda",
        ),
        (
            lambda: (
                F.interpolate(torch.ones(1, 1, 2, 2, device="cuda", requires_grad=True), scale_factor=2, mode="bicubic")
                .sum()
                .backward()
            ),
            "upsample_bicubic2d_backward_out_cuda",
        ),
    ],
)
def test_operators_without_a_deterministic_kernel_say_so(run, name):
    run()
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(RuntimeError, match=f"{name} does not have a deterministic implementation"):
            run()
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize(
    "run",
    [
        lambda: torch.cumsum(INDEX_THERE, 0),
        lambda: torch.bincount(INDEX_THERE),
        lambda: torch.median(CUDA),
        lambda: CUDA.scatter_reduce(0, torch.zeros_like(CUDA).long(), CUDA, "sum"),
        lambda: F.max_pool3d(CUDA.clone()[None, None].requires_grad_(), 1).sum().backward(),
    ],
)
def test_operators_with_a_deterministic_kernel_run(run):
    torch.use_deterministic_algorithms(True)
    try:
        run()
    finally:
        torch.use_deterministic_algorithms(False)


def test_an_operator_that_is_not_served_is_named():
    with pytest.raises(NotImplementedError, match="aten::_cslt_compress"):
        torch.ops.aten._cslt_compress(CUDA.half())
