"""The scene dictionary: entities, regions, relations, and changes between sessions."""
