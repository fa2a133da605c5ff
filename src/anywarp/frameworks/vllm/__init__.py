"""vLLM's wheel for CUDA: its libraries of operators are machine code for NVIDIA's cards; operators of ours over torch take their place (docs/vllm.md)."""
