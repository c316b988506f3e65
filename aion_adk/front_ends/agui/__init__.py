"""AG-UI 1.0: reads requests as turns and encodes turns as events."""
