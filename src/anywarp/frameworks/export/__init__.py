"""Models of PyTorch as ONNX, the bridge to another framework or engine, held against PyTorch before they are written: `anywarp export`."""
