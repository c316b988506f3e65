"""Where tasks are kept: in memory, and in databases together with sessions and webhooks."""
