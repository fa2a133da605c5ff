"""Translates CUDA C++ to HIP: edits over the original bytes, so that what is not CUDA stays as it is.

`rules.py` is the door for whoever adds a construct, `engine.py` runs the rules over one file, `tree.py` over a tree.
"""

from anywarp.migrate.translate.engine import Translation, translate
from anywarp.migrate.translate.unit import Options

__all__ = ["Options", "Translation", "translate"]
