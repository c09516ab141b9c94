"""Causes of an action's failure, and the remedies."""
