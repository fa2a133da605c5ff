"""What happens inside the program while `anywarp verify` runs it. Imported only when torch is."""
