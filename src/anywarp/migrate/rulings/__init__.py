"""What becomes of one thing that concerns NVIDIA, ruled once: scanners and judges ask here, and so does `convert`.

A ruling goes by the tables and by what is given of one place (a variable with its value, an image, a service, a requirement); what only
the text of a file can tell (an anchor, a quote) is left to who changes it. What assess calls converted is what convert converts.
"""
