"""One run of an ADK agent: what it is given, what comes out as A2A events, how it went."""
