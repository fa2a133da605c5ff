"""Capturing the values of a program that is not changed for it: modules of PyTorch, named buffers, endpoints."""
