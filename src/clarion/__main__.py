"""`python -m clarion` and the `clarion` command."""

from clarion.cli.commands import main

if __name__ == "__main__":
    main()
