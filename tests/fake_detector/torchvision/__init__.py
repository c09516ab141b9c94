"""Fake torchvision, which only needs to be importable."""
