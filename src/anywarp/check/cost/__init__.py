"""What two sides cost for the same service: from measured results and a price file, every number with the place it comes from."""
