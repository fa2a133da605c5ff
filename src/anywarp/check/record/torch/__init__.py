"""PyTorch: the modules of a program are seen where every module is called, in `torch.nn.Module.__call__`. Imported only when torch is."""
