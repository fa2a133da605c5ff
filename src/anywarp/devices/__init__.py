"""One folder per device: what it compiles to and how it is described.

Devices are found by the entry point group `anywarp.devices`, those of this package included, so that one from elsewhere is
on the same footing; `device.py` is the protocol.
"""
