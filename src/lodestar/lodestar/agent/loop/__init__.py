"""The decision loop: one object per state, over a shared context."""
