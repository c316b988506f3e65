"""AG-UI 1.0: a run as its events, and its requests as A2A messages."""
