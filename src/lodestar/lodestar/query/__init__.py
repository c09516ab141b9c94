"""Scoring of query graphs over entities."""
