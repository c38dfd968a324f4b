"""Counts in sentences."""


def count_text(count: float, one: str, many: str) -> str:
    """Return such as "1 run", "3 runs" or "0.5 seconds"."""
    return f"{count:.12g} {one if count == 1 else many}"
