"""Score entities against query graphs."""
