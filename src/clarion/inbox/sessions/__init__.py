"""Sessions of people in their inbox: how they begin, and what proves who somebody is."""
