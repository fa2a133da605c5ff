"""What `assess`, `translate` and `convert` have their processes do, with one more rule that some files make crash, hang, eat or raise."""

import os
import time

from anywarp.deploy.convert import tree
from anywarp.migrate import reading
from anywarp.migrate.translate import engine, trees


def _make(data):
    if b"toy_abort" in data:
        os.abort()
    if b"toy_hang" in data:
        if "TROUBLE_MARK" in os.environ:
            with open(os.environ["TROUBLE_MARK"], "w") as mark:
                mark.write(str(os.getpid()))
        time.sleep(60)
    if b"toy_eat" in data:
        bytearray(5 << 30)  # of zeros, which cost nothing where there is no limit
    if b"toy_raise" in data:
        raise ZeroDivisionError("toy")


class _Rule:
    name = "trouble"
    words = frozenset((b"toy_abort", b"toy_hang", b"toy_eat", b"toy_raise"))

    def apply(self, unit):
        _make(unit.data)
        return iter(())


def assess(order, alive):
    order["scanners"].append("fakes.trouble")
    return reading.begin(order, alive)


def translate(order, alive):
    real = engine.rules
    engine.rules = lambda: (_Rule(), *real())
    return trees.begin(order, alive)


def convert(order, alive):
    real = tree.convert

    def troubled(data, *rest):
        _make(data)
        return real(data, *rest)

    tree.convert = troubled
    return tree.begin(order, alive)


LARGEST = 1 << 20
SUBJECTS = ()


def wants(path, head):
    return True


def scan(data, path):
    _make(bytes(data))
    return iter(())
