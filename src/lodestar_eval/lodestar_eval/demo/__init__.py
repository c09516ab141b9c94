"""`python -m lodestar_eval.demo`: run one directive in one building on the real nodes, and write a report."""
