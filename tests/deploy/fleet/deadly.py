"""What assesses members, and dies over one."""

import os

from anywarp.deploy.fleet.organisation import reading


def begin(order, alive):
    work = reading.begin(order, alive)
    return lambda file: os._exit(9) if file.shown == "base" else work(file)
