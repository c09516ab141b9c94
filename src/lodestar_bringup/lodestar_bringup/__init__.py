"""The processes of each use of Lodestar, and a starter for them that needs no launch package."""
