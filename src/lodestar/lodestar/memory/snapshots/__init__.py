"""Snapshots: the images that stand for entities and frontiers (SnapMem)."""
