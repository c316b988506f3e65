"""What an agent sees and says while it runs: the inbox, the outbox, the turn, the helpers."""
