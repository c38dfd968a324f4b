"""Shares of a core, where control groups can be used."""

import pytest

from bench.fleet import QuotaUnavailable, cpu_quota, require_quotas


def has_quotas() -> bool:
    try:
        require_quotas()
    except QuotaUnavailable:
        return False
    return True


def test_a_group_exists_only_while_it_is_used_or_the_reason_is_given() -> None:
    if not has_quotas():
        with pytest.raises(QuotaUnavailable, match=r"cgroup|controller"), cpu_quota(0.1):
            pass
        return
    with cpu_quota(0.1) as quota:
        assert quota.folder.is_dir()

    assert not quota.folder.exists()
