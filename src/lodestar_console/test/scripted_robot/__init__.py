"""A console without a robot: a script simulates the stack."""
