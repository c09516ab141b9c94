"""Files that are whole or not there, and folders of them that change in one step."""
