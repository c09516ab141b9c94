"""Instances of objects: matching of masks with instances, their tracks, geometry and records."""
