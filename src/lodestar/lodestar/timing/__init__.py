"""Comparison of stamps, and periods measured by stamps."""
