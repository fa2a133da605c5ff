"""What a bundle may demand of its reader; a bundle that wants more is refused (V003), whoever made it."""

MANIFEST_BYTES = 32 << 20
LINE_BYTES = 1 << 20
ENTRIES_BYTES = 512 << 20
ENTRIES = 400_000
TENSOR_BYTES = 8 << 30
HEADER_BYTES = 1 << 16
"""Of a blob's own header, which one tensor fills with less than 2 KiB."""
DIMENSIONS = 64
DIGITS = 24
"""Of a whole number in JSON: the time that Python takes to read one grows with the square of its length."""
NAME = 4096
PARTS = 65_536
MEMBERS = 4_000_000
"""Of an archive."""
ARCHIVE_HEADER_BYTES = 1 << 16
"""Of one extended header in an archive, which tarfile reads whole."""
