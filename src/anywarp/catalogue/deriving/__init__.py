"""Rebuild the generated tables from inputs that are named by version and checksum; `scripts/derive` is the command."""
