"""The OpenAI Responses API: reads requests as turns and encodes turns as responses."""
