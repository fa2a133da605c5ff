"""Run software written for NVIDIA CUDA on other devices, unchanged.

The package is laid out in rooms; `docs/layout.md` says which room does what and who may import whom.
"""

__version__ = "0.1.0"
