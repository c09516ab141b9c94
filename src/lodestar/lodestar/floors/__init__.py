"""Floors of a building, passages between them, and controllers that drive on stairs and into lifts."""
