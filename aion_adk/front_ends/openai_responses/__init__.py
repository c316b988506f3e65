"""The OpenAI Responses API: requests as turns, turns as events and whole responses."""
