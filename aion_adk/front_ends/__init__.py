"""Other protocols on the same tasks, a folder for each; `jsonrpc`, the hot path of A2A's own; and
what they share."""
