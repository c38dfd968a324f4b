"""Deletes data that is older than its environment keeps it, in small units of work.

`worker` decides what is next and how fast; `walks` lists what is walked; the other modules each know one kind of data:
which rows are old, which of them are still needed, and what is deleted with them.
"""
