"""What programs get for packages that cannot be used here; torch is imported only in this folder's modules."""
