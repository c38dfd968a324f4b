"""One person's inbox: lists, counts and changes, for the person and for servers."""
