"""Recordings of a program's values as files: written while it runs, carried to another machine, read with suspicion.

`docs/contracts.md` describes the format. This package runs inside the user's program, in the user's Python: it needs nothing beyond the
standard library.
"""

from anywarp.check.bundle.entries import Entry as Entry
from anywarp.check.bundle.reader import Bundle as Bundle
from anywarp.check.bundle.reader import open_bundle as open_bundle
from anywarp.check.bundle.writer import Writer as Writer
