"""What assesses members, and dies over one; over another only while it reads all files itself."""

import os

from anywarp.deploy.fleet.organisation import reading


def begin(order, alive):
    work = reading.begin(order, alive)
    deadly = {"base"} if order["readers"] else {"base", "serve"}
    return lambda file: os._exit(9) if file.shown in deadly else work(file)
