"""Choice among experts: context, bandit, reward, decision log."""
