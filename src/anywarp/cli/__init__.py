"""The command line: one file per verb, each of which parses, calls one function, prints and returns the exit code.

Verbs are listed once, in `main.py`, and imported only when asked for, so that `anywarp run` starts quickly.
"""
