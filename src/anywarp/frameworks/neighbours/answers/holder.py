"""A package that only holds others."""

__all__: list[str] = []
