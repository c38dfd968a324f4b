"""`python -m clarion` and the `clarion` command."""

import gc

# The objects of modules live as long as the process: searching them for garbage takes a tenth of the time of a start.
gc.disable()

from clarion.cli.commands import main  # noqa: E402

_OBJECTS_UNTIL_COLLECTION = 50_000
"""More than a large batch has, which reference counts free: a collection while it is worked on takes 10 ms."""

gc.freeze()
gc.set_threshold(_OBJECTS_UNTIL_COLLECTION, 10, 10)
gc.enable()

if __name__ == "__main__":
    main()
