"""How much is tried at random: `make fuzz` sets it, and `make test` tries a little."""

import os

EXAMPLES = int(os.environ.get("CLARION_FUZZ_EXAMPLES", "0"))
"""For each thing that is tried; 0 if it is not set."""
