"""A2A's vocabulary as pure functions: messages, parts, tasks, and genai content beside them."""
