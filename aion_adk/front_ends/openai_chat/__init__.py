"""OpenAI Chat Completions: reads requests as turns and encodes turns as completions."""
