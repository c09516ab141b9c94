"""Evidence for answers: few memories that say much and not the same (STaR IV-B)."""
