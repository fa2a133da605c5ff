"""The meaning of every PTX instruction, one module per chapter of the PTX manual, written once over `ops.Ops`."""
