"""torch.compile for `cuda`: Inductor's C++ code generator, which only knows the CPU, given graphs that have been moved there.

Dynamo and AOTAutograd see the true device; the graph is moved at Inductor's door, and each call gets aliases of its arguments.
"""
