"""A package of FlashAttention that holds others."""

__all__: list[str] = []
