"""Calls that wait for an answer from the caller: which they are, what is asked, what fits."""
