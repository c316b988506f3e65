"""AG-UI 1.0: a turn as its events, its requests as A2A messages, its history as messages."""
