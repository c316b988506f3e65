"""`python -m aion_adk` is `aion-adk`."""

from aion_adk.cli import main

if __name__ == "__main__":
    main(prog_name="aion-adk")
