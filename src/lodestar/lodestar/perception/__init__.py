"""Segment images."""
