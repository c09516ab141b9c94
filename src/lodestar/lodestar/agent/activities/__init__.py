"""The work of each kind of errand."""
