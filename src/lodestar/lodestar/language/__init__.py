"""Directives, query graphs and their parsers."""
