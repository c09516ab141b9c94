"""Selection among experts: context features, bandits and baselines, rewards, and the decision ledger."""
