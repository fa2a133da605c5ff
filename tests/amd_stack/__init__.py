"""AMD's HIP over AMD's emulator of a card: what builds it, and the programs that run there."""
