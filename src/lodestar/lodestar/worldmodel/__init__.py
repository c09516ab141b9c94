"""World model (VLM-DEWM): reasoning traces, and their validation against what is known."""
