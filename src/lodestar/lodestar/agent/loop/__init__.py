"""The decision loop: one object per state over one context."""
