"""Images for containers: a layer with anywarp upon an image for CUDA, as an OCI layout and without a daemon."""
