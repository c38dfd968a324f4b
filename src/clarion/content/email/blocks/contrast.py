"""The contrast of two colours, as WCAG 2.2 measures it."""

import re
from typing import Final

LEAST_CONTRAST: Final = 4.5
"""Of text, for level AA."""

_HEX: Final = re.compile(r"#(?:([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})|([0-9a-f])([0-9a-f])([0-9a-f]))", re.IGNORECASE)
_RGB: Final = re.compile(r"rgb\(\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*\)", re.IGNORECASE)
_NAMED: Final = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "orange": (255, 165, 0),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
}
Color = tuple[int, int, int]


def find_contrast_problem(text: str, background: str) -> str | None:
    """Return why a text on a background is hard to read, or None if it is not, or not known."""
    ink, ground = _read(text), _read(background)
    if ink is None or ground is None:
        return None
    lighter, darker = sorted((_luminance(ink), _luminance(ground)), reverse=True)
    ratio = (lighter + 0.05) / (darker + 0.05)
    if ratio >= LEAST_CONTRAST:
        return None
    least = f"{LEAST_CONTRAST:g} is needed (WCAG AA)"
    return f"{text} on {background} has a contrast of {ratio:.1f}; {least}: choose a darker or a lighter colour"


def _read(color: str) -> Color | None:
    named = _NAMED.get(color.strip().lower())
    if named is not None:
        return named
    if match := _HEX.fullmatch(color.strip()):
        digits = [group for group in match.groups() if group]
        red, green, blue = (int(group * (2 // len(group)), 16) for group in digits)
        return red, green, blue
    if match := _RGB.fullmatch(color.strip()):
        red, green, blue = (min(int(group), 255) for group in match.groups())
        return red, green, blue
    return None


def _luminance(color: Color) -> float:
    channels = (value / 255 for value in color)
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
