"""`anywarp convert`: everything around a CUDA program that is not C++, turned towards AMD GPUs from the tables of a migration.

Edits are made in the text itself, so that what is not converted stays as it was, byte by byte; what cannot be converted is said.
"""
