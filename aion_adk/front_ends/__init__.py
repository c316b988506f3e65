"""Other protocols on the same tasks, the hot path of A2A's own (`jsonrpc`), and what they share."""
