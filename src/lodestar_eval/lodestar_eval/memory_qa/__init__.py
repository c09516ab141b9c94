"""Questions about a long tour of a simulated building, their truth and their score (STaR's WH-VQA)."""
