"""How much a caller may ask for in a time, and how much work one request may cause."""
