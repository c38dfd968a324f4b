"""`python -m clarion` and the `clarion` command."""

import gc

# The objects of modules live as long as the process: searching them for garbage takes a tenth of the time of a start.
gc.set_threshold(50_000, 20, 20)

from clarion.cli.commands import main  # noqa: E402

if __name__ == "__main__":
    main()
