"""A plain interpreter of PTX meanings: slow, obvious, used to check the other devices."""
