"""Who is trusted: context, bandit, reward, decision log."""
