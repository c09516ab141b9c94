"""Floors of a building, the ways between them, and the walk on a flight of stairs."""
