"""crewai writes to the home directory when it is imported and reports home when it runs."""

import os
import tempfile
from importlib.util import find_spec

if find_spec("crewai"):
    os.environ["HOME"] = tempfile.mkdtemp(prefix="crewai-home-")
    os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
    os.environ["CREWAI_TRACING_ENABLED"] = "false"
    os.environ["OTEL_SDK_DISABLED"] = "true"
