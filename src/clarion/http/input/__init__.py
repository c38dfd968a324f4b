"""What callers send: queries and bodies read by their shapes, and what becomes of what they send wrong."""
