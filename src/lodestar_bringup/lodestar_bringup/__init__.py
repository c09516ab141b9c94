"""Process lists of Lodestar's uses, and a starter that needs no launch package."""
