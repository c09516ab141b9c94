"""Experts: each proposes one goal per request."""
