"""What reads a user's code before it moves: what of it depends on CUDA, and what it becomes on other devices."""
