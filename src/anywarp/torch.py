"""`import anywarp.torch`: the line that gives PyTorch its `cuda` in this process and in those it starts.

For programs and notebooks that are not started by `anywarp run`; it stands before the first `import torch`.
"""

from anywarp.frameworks.torch import here

here.serve()
