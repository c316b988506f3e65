"""Clients of other protocols on the same tasks: a folder for each, what they share beside them."""
