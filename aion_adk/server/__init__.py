"""The ASGI app of an agent: wiring, options, routes and middleware."""
