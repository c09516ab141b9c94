"""Answers to typed questions, executed over memory, scene and regions, with proof (STaR IV-B, V)."""
