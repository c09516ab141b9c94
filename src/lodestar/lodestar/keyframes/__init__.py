"""Images worth keeping."""
