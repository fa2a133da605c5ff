"""Chapters that call the runtime library's functions and check what they did; `run` is the program that runs them all."""
