"""Scoring of entities against query graphs."""
