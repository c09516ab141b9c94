"""Entities, the scene dictionary and similarity fields."""
