"""Questions about a long tour of a simulated building, with true answers and scores (STaR's WH-VQA)."""
