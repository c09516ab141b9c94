"""Who proposes where to go."""
