"""Detection and description of objects, people and signs in camera images."""
