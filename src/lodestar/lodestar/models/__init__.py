"""Ports to learned models that several rooms share."""
