"""The decision loop that turns a directive into goals for the navigator."""
