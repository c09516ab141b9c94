"""The decision loop."""
