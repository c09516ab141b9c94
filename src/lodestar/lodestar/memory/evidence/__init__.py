"""Selection of evidence for answers: few memories that are relevant and not redundant (STaR IV-B)."""
