"""Readers of file formats, for whoever looks at files and whoever changes them: what stands where in a text, by the format's own manual.

A reader knows nothing of CUDA, opens no file and refuses no text. Its places are offsets in the text that it is given: bytes, where that was
decoded as Latin-1. What a format does not say is no business of its reader: which packages matter, what a change is.
"""
