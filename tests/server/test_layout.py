"""The layout of the map."""

import numpy as np
import pytest

from neurogated.server.map import lay_out


@pytest.mark.parametrize(("members", "count"), [(0, 1), (3, 1), (500, 7), (10_000, 60), (3_000, 400)])
def test_regions_hold_their_members_and_do_not_overlap(members: int, count: int) -> None:
    random = np.random.default_rng(count)
    region = random.integers(0, count, members)
    links = [
        (first, second, 1.0) for first, second in random.integers(0, count, (count, 2)).tolist() if first != second
    ]
    found = lay_out(region, count, links)
    distance = np.hypot(*(found.centres[:, None] - found.centres).T)
    np.fill_diagonal(distance, np.inf)
    assert (distance >= found.radii[:, None] + found.radii).all()
    assert (np.hypot(*(found.points - found.centres[region]).T) <= found.radii[region]).all()
    again = lay_out(region, count, links)
    assert all(np.array_equal(one, other) for one, other in zip(found, again, strict=True))


def test_linked_regions_are_closer_than_others() -> None:
    links = [(0, 5, 1.0), (1, 4, 1.0), (2, 3, 1.0)]
    found = lay_out(np.repeat(np.arange(6), 50), 6, links)
    distance = np.hypot(*(found.centres[:, None] - found.centres).T)
    linked = np.mean([distance[first, second] for first, second, _ in links])
    assert linked < distance[np.triu_indices(6, 1)].mean()


def test_the_first_members_lie_in_the_middle_and_none_covers_another() -> None:
    found = lay_out(np.zeros(2_000, dtype=np.int64), 1, [])
    away = np.hypot(*(found.points - found.centres[0]).T)
    assert (np.diff(away) > 0).all()
    apart = np.hypot(*(found.points[:, None] - found.points).T)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 1
