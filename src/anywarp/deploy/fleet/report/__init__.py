"""What a fleet has come to: as facts, as a page."""
