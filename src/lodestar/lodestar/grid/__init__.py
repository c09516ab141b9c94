"""Occupancy grids, distances, visibility, paths and viewpoints."""
