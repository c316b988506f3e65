"""The mapping document's plain dictionaries: A2A, AG-UI and OpenAI, as pure functions."""
