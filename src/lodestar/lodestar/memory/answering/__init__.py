"""Answering of typed questions from memory, scene and regions, with proof (STaR IV-B, V)."""
