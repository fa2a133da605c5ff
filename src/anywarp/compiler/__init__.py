"""Typed PTX to object code, through an SSA kernel IR; the only room that knows LLVM."""
