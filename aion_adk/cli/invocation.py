"""How a person calls this program from where they are."""

import os
import shutil
import sys

PROGRAM = "aion-adk"


def command() -> str:
    """The program's name, or the path it was started by where a shell would not find the name."""
    started_by = sys.argv[0]
    if os.path.basename(started_by) != PROGRAM or shutil.which(PROGRAM):
        return PROGRAM
    return os.path.relpath(started_by)
