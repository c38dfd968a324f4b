"""Who runs a command, for the audit log."""

import getpass
import os
import socket

from clarion.audit.model import Actor, ActorType, Author


def command_line_author() -> Author:
    """Return the user of the operating system and the machine; a container may have no name for its user."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return Author(actor=Actor(type=ActorType.COMMAND_LINE, name=f"{user}@{socket.gethostname()}"))
