"""What is kept stays within bounds, and what was kept first leaves first."""

from clarion.kept import Kept


def test_the_values_kept_last_stay() -> None:
    kept: Kept[str, int] = Kept(most=2)
    kept.keep("a", 1)
    kept.keep("b", 2)
    kept.keep("c", 3)

    assert [kept.find(key) for key in "abc"] == [None, 2, 3]


def test_heavy_values_make_room_for_themselves() -> None:
    kept: Kept[str, int] = Kept(most=10, most_weight=10, weigh=len)
    for key in ("aaaa", "bbbb", "cccc"):
        kept.keep(key, len(key))

    assert [kept.find(key) for key in ("aaaa", "bbbb", "cccc")] == [None, 4, 4]


def test_a_value_kept_again_weighs_once() -> None:
    kept: Kept[str, int] = Kept(most=10, most_weight=8, weigh=len)
    for number in range(5):
        kept.keep("aaaa", number)
    kept.keep("bbbb", 9)

    assert (kept.find("aaaa"), kept.find("bbbb")) == (4, 9)
