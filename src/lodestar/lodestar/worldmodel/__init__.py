"""World model (VLM-DEWM): reasoning traces, their validation, diagnoses of failures, and amendments of beliefs."""
