"""Where tasks run: one file per kind of place behind the protocol in `runner.py`."""
