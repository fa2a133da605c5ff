"""Older versions of torch lack some of what is changed: importing their modules must not fail for it."""

from types import SimpleNamespace

import pytest

from anywarp.frameworks.torch import distributed, patches
from anywarp.frameworks.torch.changes import compile as compiling

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("change", [compiling._compile_for_the_cpu, compiling._key_of_caches, compiling._packages])
def test_a_module_without_what_is_changed_stays_as_it_is(change):
    module, before = SimpleNamespace(), len(patches.applied)
    change(module)
    assert vars(module) == {} and len(patches.applied) == before


@pytest.mark.parametrize("owner", ["Backend", "ProcessGroup"])
def test_options_of_nccl_derive_from_those_that_there_are(owner):
    """They were of ProcessGroup in torch 2.4, and are of Backend since."""

    class Options:
        def __init__(self, backend, timeout):
            self.backend, self._timeout = backend, timeout

    classes = {
        name: type(name, (), {"Options": Options} if name == owner else {}) for name in ("Backend", "ProcessGroup")
    }
    made = distributed._classes(SimpleNamespace(__name__="c10d", **classes)).Options()
    assert isinstance(made, Options) and (made.backend, made._timeout) == ("nccl", distributed.DEFAULT_TIMEOUT)
