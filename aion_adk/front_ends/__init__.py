"""Other protocols on the same tasks: a folder for each, and beside them what they share."""
