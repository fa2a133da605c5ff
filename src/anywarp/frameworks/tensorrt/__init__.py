"""TensorRT's Python interface for ONNX models on the device `cpu`, computed by ONNX Runtime.

`adapter.py` answers `import tensorrt`; `interface.py` lists the names; docs/tensorrt.md is the page for users. Names, parameters and
what is returned on errors follow NVIDIA's documentation of the Python API (docs.nvidia.com/deeplearning/tensorrt).
"""
