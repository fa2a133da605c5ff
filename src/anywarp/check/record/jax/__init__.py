"""JAX: calls of functions that the program has compiled by `jax.jit`, seen where it asks for that. Imported only when jax is."""
