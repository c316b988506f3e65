"""Message formats: AG-UI and OpenAI beside A2A. Pure functions and encoders, no web imports."""
