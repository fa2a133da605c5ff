"""Passes over the kernel IR, one file each, named verb_noun, each stating when it is legal."""
