"""This bridge and its peers, measured in one run: `python -m benchmarks --help`."""
