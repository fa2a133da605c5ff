"""Matrices of verify, bench and assess over many machines, and assessments of a whole organisation."""
