"""Operator console: a node that serves the state of the stack to browsers, and tools to agents by MCP."""
