"""A console without a robot: a script in the place of the stack."""
