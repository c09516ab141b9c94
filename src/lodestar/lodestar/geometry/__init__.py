"""Poses, cameras, boxes and Gaussians."""
