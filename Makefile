# Each target sets up .venv by itself; it needs python3 with venv, a C++ compiler and a network for the first time.
.PHONY: demo test quick check build bench

demo test check build bench:
	@scripts/$@

quick: # under two minutes; says what it leaves out
	@scripts/test --quick
