"""The backend "nccl" of torch.distributed as Python sees it: `ProcessGroupNCCL`, its options, its names in `torch._C`.

The collectives are C++ (native/torch/collectives.cpp), a `c10d::Backend` over Gloo. The stand-in does not know Python, so what
torch hands out is of the class `Backend`; the class here answers `isinstance` for it, and what only NCCL's has is added to it.
"""

# pyright: basic
from __future__ import annotations

import contextlib
import functools
import sys
import zlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from anywarp.frameworks.torch import patches

NCCL_VERSION = (2, 27, 5)
"""The version of NCCL whose collectives these are (and not a newer one's)."""

DEFAULT_TIMEOUT = timedelta(minutes=10)
"""torch's for NCCL (distributed_c10d.py: "Default value is 10 minutes for NCCL")."""

UNDEFINED = -(2**31)
"""NCCL_CONFIG_UNDEF_INT: "NCCL decides"."""

REASON = "CUDA builds have NCCL"

_options: dict[int, Any] = {}  # by the number of the backend


class NCCLConfig:
    """The ncclConfig_t of a group: kept as it is given, since there is no NCCL to tune."""

    def __init__(self) -> None:
        self.blocking = self.cga_cluster_size = self.min_ctas = self.max_ctas = UNDEFINED
        self.split_share = self.traffic_class = self.collnet_enable = self.cta_policy = UNDEFINED
        self.shrink_share = self.nvls_ctas = UNDEFINED
        self.net_name = self.comm_name = None

    def unsafe_get_ptr(self) -> int:
        """Raise: there is no such structure in memory."""
        raise RuntimeError("this process has no NCCL, so its configuration has no address")


class _Only:
    """An attribute of `Backend` that only the groups of NCCL have."""

    def __init__(self, function: Callable[..., Any], is_property: bool = False):
        self.function, self.is_property = function, is_property
        self.name = function.__name__

    def __get__(self, backend: Any, owner: type) -> Any:
        if backend is None:
            return self
        if not is_nccl(backend):
            raise AttributeError(f"{type(backend).__name__!r} object has no attribute {self.name!r}")
        return self.function(backend) if self.is_property else self.function.__get__(backend, owner)


def is_nccl(backend: Any) -> bool:
    """Tell whether a backend is one of ours: of no class of its own in Python, and named "nccl"."""
    return type(backend) is _c10d().Backend and backend.name() == "nccl"


def _c10d() -> Any:
    """Return the C module of torch.distributed."""
    return sys.modules["torch._C._distributed_c10d"]


def milliseconds(time: timedelta) -> int:
    """Return a time as c10d counts it; at least 1."""
    return max(1, round(time / timedelta(milliseconds=1)))


def _holder(backend: Any) -> Any:
    """Return a process group that has only this backend, which is how operators are handed one."""
    import torch

    c10d = _c10d()
    group = c10d.ProcessGroup(backend.rank(), backend.size())
    group._register_backend(torch.device("cuda"), c10d.ProcessGroup.BackendType.NCCL, backend)
    return group


def _remembered(backend: Any) -> tuple[int, Any]:
    """Return the number and the options of a backend; those that C++ made get theirs now."""
    number, time, _ = _state(backend)
    if number not in _options:
        _options[number] = _c10d().ProcessGroupNCCL.Options()
        _options[number]._timeout = timedelta(milliseconds=time)
    return number, _options[number]


def _state(backend: Any) -> tuple[int, int, int]:
    """Return the number of a backend, its timeout in milliseconds and how many groups were split off."""
    import torch

    return torch.ops.anywarp.nccl_state(_holder(backend).boxed())


def make(store: Any, rank: int, size: int, options: Any) -> Any:
    """Return a new backend for `rank` of `size`; connects to the others by `store`.

    `options` are ProcessGroupNCCL.Options; a timedelta counts as their timeout. Raises what Gloo raises when the others do not come.
    """
    import torch

    c10d = _c10d()
    if not isinstance(options, c10d.ProcessGroupNCCL.Options):
        given, options = options, c10d.ProcessGroupNCCL.Options()
        if given is not None:
            options._timeout = given
    group = c10d.ProcessGroup(rank, size)
    inner = c10d.ProcessGroupGloo(c10d.PrefixStore("anywarp/", store), rank, size, timeout=options._timeout)
    if hasattr(inner, "options"):  # splitting needs to know
        inner.options.global_ranks_in_group = list(options.global_ranks_in_group or range(size))
    group._register_backend(torch.device("cpu"), c10d.ProcessGroup.BackendType.GLOO, inner)
    torch.ops.anywarp.add_nccl(group.boxed(), milliseconds(options._timeout))
    made = group._get_backend(torch.device("cuda"))
    _options[_state(made)[0]] = options
    return made


def uid(self: Any) -> int:
    """Return the number of the group in this process."""
    return _remembered(self)[0]


def options(self: Any) -> Any:
    """Return the options it was made with."""
    return _remembered(self)[1]


def _set_default_timeout(self: Any, timeout: timedelta) -> None:
    """Change the timeout of everything that is started from now on."""
    import torch

    self.options._timeout = timeout
    torch.ops.anywarp.set_nccl_timeout(_holder(self).boxed(), milliseconds(timeout), 0)


def _add_ephemeral_timeout(self: Any, timeout: timedelta) -> None:
    """Give the next collective so much more time."""
    import torch

    now = milliseconds(self.options._timeout)
    torch.ops.anywarp.set_nccl_timeout(_holder(self).boxed(), now, milliseconds(timeout))


def _group_start(self: Any) -> None:
    """Do nothing: groups here are aborted each for itself, so that there is nothing to bundle."""


def _group_end(self: Any) -> None:
    """Do nothing; see _group_start."""


def _is_initialized(self: Any) -> bool:
    """Return True: groups are connected when they are made."""
    return True


def comm_split_count(self: Any) -> int:
    """Return how many groups were split off this one."""
    return _state(self)[2]


def perform_nocolor_split(self: Any, device: Any) -> None:
    """Do nothing: groups are made by their members alone."""


def register_mem_pool(self: Any, pool: Any, symm: bool = False) -> None:
    """Do nothing: all memory of a device is reached alike."""


def deregister_mem_pool(self: Any, pool: Any) -> None:
    """Do nothing; see register_mem_pool."""


ONLY_NCCL = (
    _Only(uid, True), _Only(options, True), _Only(_set_default_timeout), _Only(_add_ephemeral_timeout), _Only(_group_start),
    _Only(_group_end), _Only(_is_initialized), _Only(comm_split_count), _Only(perform_nocolor_split), _Only(register_mem_pool),
    _Only(deregister_mem_pool),
)  # fmt: skip


def _classes(c10d: Any) -> Any:
    """Return the class ProcessGroupNCCL with its Options, made from the classes of this torch."""

    plain = c10d.Backend if hasattr(c10d.Backend, "Options") else c10d.ProcessGroup  # of the latter in torch 2.4

    class Options(plain.Options):
        """What a group is made with."""

        def __init__(self, is_high_priority_stream: bool = False):
            super().__init__("nccl", timeout=DEFAULT_TIMEOUT)
            self.is_high_priority_stream = is_high_priority_stream
            self.config = NCCLConfig()
            self.split_from, self.split_color = None, UNDEFINED

        def __deepcopy__(self, memo: Any) -> Any:
            copied = type(self)(self.is_high_priority_stream)
            copied._timeout, copied.global_ranks_in_group = self._timeout, self.global_ranks_in_group
            copied.group_name = self.group_name
            copied.config.__dict__.update(self.config.__dict__)
            return copied

        __copy__ = lambda self: self.__deepcopy__(None)  # noqa: E731

    class OfNccl(type(c10d.Backend)):
        def __instancecheck__(self, backend: Any) -> bool:
            return is_nccl(backend)

        def __call__(self, store: Any, rank: int, size: int, options: Any = None, *, timeout: Any = None) -> Any:
            return make(store, rank, size, timeout if options is None else options)

    class ProcessGroupNCCL(c10d.Backend, metaclass=OfNccl):
        """The backend "nccl": called, it makes one; `isinstance` knows those that were made."""

        NCCL_CTA_POLICY_DEFAULT, NCCL_CTA_POLICY_EFFICIENCY, NCCL_CTA_POLICY_ZERO = 0, 1, 2

        @staticmethod
        def get_build_nccl_version() -> tuple[int, int, int]:
            return NCCL_VERSION

        get_runtime_nccl_version = get_build_nccl_version

    Options.__qualname__ = "ProcessGroupNCCL.Options"
    Options.__module__ = ProcessGroupNCCL.__module__ = c10d.__name__
    ProcessGroupNCCL.__qualname__ = "ProcessGroupNCCL"
    ProcessGroupNCCL.Options, ProcessGroupNCCL.NCCLConfig = Options, NCCLConfig
    return ProcessGroupNCCL


def hash_tensors(tensors: list[Any]) -> int:
    """Return a number that tells tensors of different contents apart, as `_hash_tensors` does."""
    import torch

    value = 0
    for tensor in tensors:
        plain = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        value = zlib.crc32(memoryview(plain.numpy()), value)
    return value


def _future_of(real: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return `Work.get_future` that waits for works of NCCL (native/torch/collectives_work.h says why)."""

    @functools.wraps(real)
    def get_future(work: Any) -> Any:
        import torch

        if hasattr(work, "boxed"):
            torch.ops.anywarp.finish_nccl(work.boxed())
        else:  # older versions of torch do not let us ask whose it is
            with contextlib.suppress(Exception):
                work.wait()
        return real(work)

    return get_future


def complete(c10d: Any) -> None:
    """Give `torch._C._distributed_c10d` what it has in a build with NCCL; does nothing where that is there."""
    if hasattr(c10d, "ProcessGroupNCCL") or not hasattr(c10d, "ProcessGroupGloo"):
        return
    patches.set_attribute(c10d, "ProcessGroupNCCL", _classes(c10d), REASON)
    patches.set_attribute(c10d, "_DEFAULT_PG_NCCL_TIMEOUT", DEFAULT_TIMEOUT, REASON)
    patches.set_attribute(c10d, "_hash_tensors", hash_tensors, REASON)
    future = _future_of(c10d.Work.get_future)
    patches.set_attribute(
        c10d.Work, "get_future", future, "futures of NCCL are complete when Python gets them; others are left"
    )
    for each in ONLY_NCCL:
        if each.name not in vars(c10d.Backend):
            patches.set_attribute(c10d.Backend, each.name, each, "groups of NCCL have it, and are of this class here")
