"""Directives, questions and query graphs, and the parsers that read them."""
