"""What numba-cuda offers to a kernel, one module per theme; every check compares with numpy or plain Python."""
