"""A program run once more on another device and held against a recording: each module alone on the recorded inputs, and all of them in a row."""
