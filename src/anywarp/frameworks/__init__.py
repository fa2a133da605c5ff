"""Frameworks: what makes each see the device it expects; one package or file per framework, imported only when the framework is."""
