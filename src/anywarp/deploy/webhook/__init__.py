"""The admission webhook: pods of a Kubernetes cluster converted as they are made, with the rules of `anywarp convert`."""
