"""The long tail: services that Apprise knows, for those who install `clarion[apprise]`."""
