"""Starting programs that a test has built."""

import os
import subprocess

from anywarp.runtime.build_id import build_id


def started(program):
    """Run a program that was built, which must end well, and return what subprocess returns."""
    environment = {**os.environ, "ANYWARP_BUILD_ID": build_id()}  # in a checkout, sources may be newer than the build
    done = subprocess.run([program], capture_output=True, text=True, timeout=100, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done
