"""PTX as text and as a typed tree: reading, printing, indexing and finding it inside binaries."""
