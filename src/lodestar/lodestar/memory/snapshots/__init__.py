"""Snapshots: images that represent entities and frontiers (SnapMem)."""
