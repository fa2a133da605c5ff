"""Measuring speed so that two sides can be compared: models, commands and endpoints, with intervals, warm-up left out, and pairs in turns."""
