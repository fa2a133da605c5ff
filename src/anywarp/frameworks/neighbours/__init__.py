"""PyTorch's neighbours: packages that programs written for `cuda` import beside torch, one file each behind one door (`neighbour.py`).

Most need nothing of us; what was found when they were run is in `as_they_are.py`. Those whose kernels are machine code for NVIDIA's cards
are answered, when they cannot be used and a program imports them: the same names and arguments, computed by torch (`answers/`).
"""
