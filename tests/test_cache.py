"""Caches are bounded, and evict the oldest values first."""

from clarion.cache import BoundedCache, Caches, CacheSlot


def test_the_oldest_values_are_evicted() -> None:
    cache: BoundedCache[str, int] = BoundedCache(limit=2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("c", 3)

    assert [cache.get(key) for key in "abc"] == [None, 2, 3]


def test_the_total_weight_is_limited() -> None:
    cache: BoundedCache[str, int] = BoundedCache(limit=10, weight_limit=10, weigh=lambda key, _: len(key))
    for key in ("aaaa", "bbbb", "cccc"):
        cache.put(key, len(key))

    assert [cache.get(key) for key in ("aaaa", "bbbb", "cccc")] == [None, 4, 4]


def test_a_value_that_is_replaced_counts_once() -> None:
    cache: BoundedCache[str, int] = BoundedCache(limit=10, weight_limit=8, weigh=lambda key, _: len(key))
    for number in range(5):
        cache.put("aaaa", number)
    cache.put("bbbb", 9)

    assert (cache.get("aaaa"), cache.get("bbbb")) == (4, 9)


def test_each_owner_has_its_own_cache_for_a_slot() -> None:
    slot: CacheSlot[str, int] = CacheSlot(limit=1)
    mine, other = Caches(), Caches()
    mine.of(slot).put("a", 1)
    mine.of(slot).put("b", 2)

    assert [mine.of(slot).get(key) for key in "ab"] == [None, 2]
    assert other.of(slot).get("b") is None
    assert mine.of(CacheSlot[str, int](limit=1)).get("b") is None
