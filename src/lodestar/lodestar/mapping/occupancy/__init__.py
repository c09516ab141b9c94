"""Occupied and free space: OctoMap, the grid of a planar scan, the floor and low objects on it."""
