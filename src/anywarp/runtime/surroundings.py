"""What a compile service takes off before it works for all programs: what the one that started it had set for itself.

Limits of resources, ignored and blocked signals, open files, the processors that it is bound to and its priority are inherited from
that program, and would be those of every kernel.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal

_UNLIMITED = ("RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_FSIZE")
_AS_FAR_AS_ALLOWED = ("RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_STACK")


def take_own() -> None:
    """Raise limits as far as this user may, give signals their usual meaning, close files that we have not opened."""
    for name in _UNLIMITED:
        _raise(name, resource.RLIM_INFINITY)
    for name in _AS_FAR_AS_ALLOWED:
        _raise(name, resource.getrlimit(getattr(resource, name))[1])
    kept = {
        signal.SIGINT,
        signal.SIGPIPE,
        signal.SIGXFSZ,
        signal.SIGKILL,
        signal.SIGSTOP,
    }  # Python's own, and the fixed
    for number in signal.valid_signals() - kept:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _take_processors()
    _close_others()


def _take_processors() -> None:
    """Run on every processor that the machine or its control group has, at the usual priority where this user may raise it."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))  # the kernel leaves out what a cpuset does not allow
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, 0)


def processor_seconds() -> int | None:
    """Return how many seconds of processor time a process of ours may use, None for any number: a hard limit stays."""
    soft, _ = resource.getrlimit(resource.RLIMIT_CPU)
    return None if soft == resource.RLIM_INFINITY else soft


def memory_bytes() -> int | None:
    """Return how much address space a process of ours may use, None for any."""
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=None)


def _raise(name: str, wanted: int) -> None:
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    for limit in ((wanted, wanted), (hard, hard)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, limit)
            return


def _close_others() -> None:
    """Close what is open behind the three standard files: pipes and sockets of the program must close when it closes them."""
    try:
        found = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        found = [1 << 16]
    os.closerange(3, max(found) + 1)
