"""Stamps and periods."""
