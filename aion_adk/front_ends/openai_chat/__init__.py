"""OpenAI Chat Completions: requests as turns, turns as chunks and whole answers."""
