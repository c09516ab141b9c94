"""Labelled images of simulated buildings in COCO's format."""
