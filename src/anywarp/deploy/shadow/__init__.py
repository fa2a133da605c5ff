"""A proxy that answers from one pool, byte for byte, and holds what another pool would have answered against it, unseen by callers.

Two processes, so that nothing that a pool under test sends can delay a caller: the relay (`relay.py`), which only moves bytes and
follows where messages begin and end (`framing.py`), and the comparer (`comparer.py`), which replays, compares and writes observations.
The relay starts the comparer again when it dies, and drops what it cannot hand over.
"""
