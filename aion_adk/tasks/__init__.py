"""The life of a task, from its first message to its end. Nothing here knows of ADK."""
