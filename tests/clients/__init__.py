"""Programs as their users run them. A package, for benchmarks has a module of this name."""
