"""The processes of each use of Lodestar, their launch files, profiles and a starter that needs no launch package."""
