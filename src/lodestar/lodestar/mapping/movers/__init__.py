"""Tracks of people, animals and other movers, in images and in ranges."""
