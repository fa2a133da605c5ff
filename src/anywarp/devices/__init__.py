"""One folder per device: what it compiles to and how it is described."""
