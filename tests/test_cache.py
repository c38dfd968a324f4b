"""What is kept stays within bounds, and what was kept first leaves first."""

from clarion.cache import BoundedCache


def test_the_values_kept_last_stay() -> None:
    cache: BoundedCache[str, int] = BoundedCache(limit=2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("c", 3)

    assert [cache.get(key) for key in "abc"] == [None, 2, 3]


def test_heavy_values_make_room_for_themselves() -> None:
    cache: BoundedCache[str, int] = BoundedCache(limit=10, weight_limit=10, weigh=len)
    for key in ("aaaa", "bbbb", "cccc"):
        cache.put(key, len(key))

    assert [cache.get(key) for key in ("aaaa", "bbbb", "cccc")] == [None, 4, 4]


def test_a_value_kept_again_weighs_once() -> None:
    cache: BoundedCache[str, int] = BoundedCache(limit=10, weight_limit=8, weigh=len)
    for number in range(5):
        cache.put("aaaa", number)
    cache.put("bbbb", 9)

    assert (cache.get("aaaa"), cache.get("bbbb")) == (4, 9)
