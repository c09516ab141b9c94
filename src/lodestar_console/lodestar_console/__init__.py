"""The operator's page in the browser, and the door for agents: one node that shows what the stack knows."""
