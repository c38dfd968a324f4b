"""The inbox: what subscribers themselves can read and change, with a session of their own."""
