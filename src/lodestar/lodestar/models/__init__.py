"""Interfaces to learned models that several packages share."""
