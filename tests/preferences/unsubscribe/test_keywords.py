"""Keywords of text messages count only if they are the whole message, in any case and with any accents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.preferences.unsubscribe.keywords import START_WORDS, STOP_WORDS, read_keyword


@pytest.mark.parametrize(
    "text", ["STOP", "stop", " Stop! ", "Stop-All", "Arrêt", "ARRET.", "إلغاء", "opt out", "Opt-Out"]
)
def test_words_that_stop(text: str) -> None:
    assert read_keyword(text) is False


@pytest.mark.parametrize("text", ["START", "unstop", "Opt in", "اشتراك"])
def test_words_that_start(text: str) -> None:
    assert read_keyword(text) is True


@pytest.mark.parametrize("text", ["", "Yes", "don't stop", "stop it", "stopped", "1", "🛑", "stop " * 10])
def test_anything_else_is_neither(text: str) -> None:
    assert read_keyword(text) is None


@given(st.sampled_from(sorted(STOP_WORDS | START_WORDS)), st.sampled_from(["", ".", "!", " ", "\n"]))
def test_each_word_is_known_as_it_is_written(word: str, end: str) -> None:
    assert read_keyword(word.upper() + end) is (word in START_WORDS)
    assert not STOP_WORDS & START_WORDS


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert read_keyword(text) in {None, True, False}
