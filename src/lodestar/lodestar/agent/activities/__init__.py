"""The work of each kind of errand, its steps, and the transitions that it takes."""
