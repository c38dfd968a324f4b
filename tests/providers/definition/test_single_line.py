"""Removing line breaks from header values."""

from clarion.providers.definition.single_line import to_single_line


def test_line_breaks_become_a_space() -> None:
    assert to_single_line(" a\r\nBcc: b\x00c\u2028d\x85e\x7f ") == "a Bcc: b c d e"
