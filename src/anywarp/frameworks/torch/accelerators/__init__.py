"""`cuda` as another accelerator of the same torch: `anywarp run --device xpu`, or npu, mps, or a vendor's own name.

The library (native/torch_accelerator) is a CUDA backend whose operators, memory, streams and generators are the accelerator's, so `cuda` is
torch's own device, as on the processor. What torch knows in Python only is asked of `torch.NAME`, the module that a vendor registers (`module.py`).
"""
