# Each target sets up .venv by itself; it needs python3 with venv, a C++ compiler and a network for the first time.
.PHONY: demo test check build bench

demo test check build bench:
	@scripts/$@
