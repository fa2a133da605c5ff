"""Runs things and compares: what a device computes with what it must."""
