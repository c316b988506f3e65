"""An agent that A2A test kits can be pointed at."""

from . import agent as agent
