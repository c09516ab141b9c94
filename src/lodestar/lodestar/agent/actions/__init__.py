"""Begin and end of an action: transitions, traces, account, and the way to a goal."""
