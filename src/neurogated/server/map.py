"""The map of a memory: communities as discs that do not overlap, their members inside; and energy over time."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.components.texts import listed_by
from neurogated.core.clock import to_micros
from neurogated.core.energy import LAYERS, EnergyLaw, Layer, layers_of
from neurogated.core.extras import needs_extra
from neurogated.core.model import MemoryEdge
from neurogated.core.view import GraphView
from neurogated.server.callers import Caller, CallerOf
from neurogated.server.models import Memory
from neurogated.viewer.page import ink

with needs_extra("serve"):
    from fastapi import APIRouter, Query
    from pydantic import BaseModel

router = APIRouter(tags=["map"])

_KEYWORDS, _NEIGHBOURS = 12, 40


class Region(BaseModel):
    """A community as a disc."""

    name: str
    keywords: tuple[str, ...]
    size: int
    x: float
    y: float
    radius: float


class Map(BaseModel):
    """Regions, and columns with one value for each memory, in the order they were added."""

    regions: list[Region]
    links: list[tuple[int, int, float]]
    """Pairs of regions with the sum of the weights of the edges between them."""
    bridges: list[tuple[int, int, str]]
    """Pairs of regions with the memory that has the most weight in edges between the two."""
    layers: tuple[Layer, ...]
    """The names of the numbers in `layer`."""
    ids: list[str]
    region: list[int]
    """The last region has the memories that are in no community."""
    x: list[float]
    y: list[float]
    energy: list[float]
    layer: list[int]


class Link(BaseModel):
    """An edge between two memories of a neighbourhood, with the colours of its type."""

    source: str
    target: str
    type: str
    relation: str | None
    weight: float
    light: str
    dark: str


class Neighbourhood(BaseModel):
    """A memory, its neighbours by falling weight, and all edges between them."""

    memories: list[Memory]
    links: list[Link]
    more: int
    """How many neighbours are left out."""


class Day(BaseModel):
    """The memories on one day, at the present time of day (UTC)."""

    day: date
    energy: float
    """Their mean energy, 0–1."""
    layers: Mapping[str, int]
    tiers: Mapping[str, int]


class Person(BaseModel):
    """A user, how many memories are hers, and when the last one of them was added."""

    user_id: str
    memories: int
    latest: datetime


@router.get("/users")
async def users(caller: CallerOf) -> list[Person]:
    """Return the users of the graph by name, with a key for all users; otherwise none."""
    people = await caller.run(caller.memory.admin.people) if caller.is_admin else {}
    return [Person(user_id=name, memories=count, latest=at) for name, (count, at) in people.items()]


@router.get("/map")
async def read_map(caller: CallerOf) -> Map:
    """Return the memories as points, and their communities as regions."""
    return await caller.run(_map, caller)


@router.get("/map/{memory_id}")
async def neighbourhood(caller: CallerOf, memory_id: str) -> Neighbourhood:
    """Return a memory with its neighbours."""
    return await caller.run(_neighbourhood, caller, memory_id)


@router.get("/energy")
async def energy(caller: CallerOf, days: Annotated[int, Query(ge=1, le=60)] = 14) -> list[Day]:
    """Return the energy and the layers of the memories on days before now, now, and without further use after it."""

    def course() -> list[Day]:
        found = caller.memory.energy.tiers_course(steps=days, step=timedelta(days=1), user_id=caller.user_id)
        return [Day(day=one.at.date(), energy=one.energy, layers=one.layers, tiers=one.counts) for one in found]

    return await caller.run(course)


def _view(caller: Caller) -> GraphView:
    session = caller.memory.session
    return session.store.view(filters=listed_by(session, {"user_id": caller.user_id}))


def _map(caller: Caller) -> Map:
    session, manifest, view = caller.memory.session, caller.memory.manifest.get(user_id=caller.user_id), _view(caller)
    rows = view.admitted_nodes()
    # The manifest may be older or newer than the view.
    region = np.full(view.node_count, len(manifest.communities), dtype=np.int64)
    for one in manifest.communities:
        region[view.known_rows(one.node_ids)] = one.number
    sizes = np.bincount(region[rows], minlength=len(manifest.communities) + 1)
    placed = lay_out(region[rows], sizes.size, manifest.links)
    now = session.clock()
    energies = EnergyLaw(session.config.metabolism).energy(view, rows, to_micros(now))
    named = [(one.name, one.keywords[:_KEYWORDS]) for one in manifest.communities]
    named.append(("", ()))
    discs = np.column_stack((placed.centres, placed.radii)).round(1).tolist()
    return Map(
        regions=[
            Region(name=name, keywords=keywords, size=size, x=x, y=y, radius=radius)
            for (name, keywords), size, (x, y, radius) in zip(named, sizes.tolist(), discs, strict=True)
        ],
        links=[(first, second, round(weight, 2)) for first, second, weight in manifest.links],
        bridges=[(one.first, one.second, one.node_id) for one in manifest.bridges],
        layers=LAYERS,
        ids=view.names(rows),
        region=region[rows].tolist(),
        x=placed.points[:, 0].round(1).tolist(),
        y=placed.points[:, 1].round(1).tolist(),
        energy=energies.round(3).tolist(),
        layer=layers_of(session.store, view, rows, energies, to_micros(now)).tolist(),
    )


def _neighbourhood(caller: Caller, memory_id: str) -> Neighbourhood:
    caller.visible(memory_id)
    store, view = caller.memory.session.store, _view(caller)
    centre = view.rows([memory_id])
    arcs = view.links(centre, both_ways=True)
    target, place = np.unique(arcs.target[view.admitted(arcs.target)], return_inverse=True)
    weight = np.zeros(target.size)
    np.maximum.at(weight, place, arcs.weight[view.admitted(arcs.target)])
    nearest = target[np.argsort(-weight, kind="stable")[:_NEIGHBOURS]]
    rows = np.concatenate((centre, nearest[nearest != centre[0]]))
    among = view.links(rows)
    edges = store.snapshot(view).edges(np.unique(among.edge[np.isin(among.target, rows)]))
    return Neighbourhood(
        memories=[Memory.model_validate(one) for one in store.get_nodes(view.names(rows))],
        links=list(map(_link, edges)),
        more=max(0, int(target.size) - _NEIGHBOURS),
    )


def _link(edge: MemoryEdge) -> Link:
    colours = ink(edge.type)
    ends = {"source": edge.source_id, "target": edge.target_id, "light": colours.light, "dark": colours.dark}
    return Link(type=edge.type.name, relation=edge.relation, weight=edge.weight, **ends)


# --- Layout ----------------------------------------------------------------------------------------------------------

_Values = NDArray[np.float64]

_GOLDEN = np.pi * (3 - np.sqrt(5))
_ARRANGED = 100
"""Discs that attract one another; the others stand on a spiral around them. The cost of a step is its square."""
_ROUNDS, _PULL, _APART_BY = 60, 0.3, 2.0


class Layout(NamedTuple):
    """Where regions and their members are."""

    centres: _Values
    """(regions, 2)."""
    radii: _Values
    """(regions,); 0 for an empty region."""
    points: _Values
    """(members, 2), at a distance of about 1 from one another."""


def lay_out(region: NDArray[np.int64], count: int, links: Sequence[tuple[int, int, float]]) -> Layout:
    """Place regions so that none overlaps another and linked ones are close, and each one's members inside it.

    Members lie on a spiral, the first ones in the middle. The same graph always has the same layout.

    Args:
        region: (members,) the region of each.
        count: how many regions; the most important ones are first.
        links: pairs of regions with weights.
    """
    sizes = np.bincount(region, minlength=count)
    radii = np.where(sizes > 0, np.sqrt(sizes) + 1, 0.0)
    centres = _arranged(radii[:_ARRANGED], np.array(links).reshape(-1, 3))
    extent = (np.hypot(*centres.T) + radii[:_ARRANGED]).max(initial=0)
    # The others stand on a spiral around them, wide enough for the largest.
    width = 2 * float(radii[_ARRANGED:].max(initial=0)) + _APART_BY
    steps = (1 + extent / width) ** 2 + np.arange(max(0, count - _ARRANGED))
    centres = np.concatenate((centres, _spiral(width * np.sqrt(steps), steps)))
    order = np.argsort(region, kind="stable")
    place = np.empty(region.size)
    place[order] = np.arange(region.size) - (sizes.cumsum() - sizes)[region[order]]
    return Layout(centres, radii, centres[region] + _spiral(np.sqrt(place + 0.5), place))


def _spiral(distance: _Values, place: _Values) -> _Values:
    """Return points at these distances, each turned by the golden angle from the one before."""
    points: _Values = distance[:, None] * np.column_stack((np.cos(_GOLDEN * place), np.sin(_GOLDEN * place)))
    return points


def _arranged(radii: _Values, links: _Values) -> _Values:
    """Return the centres of discs that attract one another by their links, and push away those that they overlap."""
    least = radii[:, None] + radii + _APART_BY
    np.fill_diagonal(least, 0)
    weight = np.zeros(least.shape)
    links = links[(links[:, :2] < radii.size).all(axis=1)]
    first, second = links[:, :2].astype(np.int64).T
    weight[first, second] = weight[second, first] = links[:, 2]
    pull = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-9)
    centres = _spiral(np.sqrt(np.cumsum(radii**2)), np.arange(radii.size, dtype=np.float64))
    for step in range(_ROUNDS):
        heat = max(0.0, 1 - 2 * step / _ROUNDS)
        attraction = pull @ centres - centres * pull.sum(axis=1, keepdims=True)
        centres += heat * (_PULL * attraction - 0.05 * centres)
        between, distance = _apart(centres)
        centres += np.einsum("ij,ijk->ik", np.maximum(0, least - distance) / 2 / distance, between)
    # Whatever overlap is left goes by enlarging the whole.
    return centres * max(1.0, float((least / _apart(centres)[1]).max(initial=0)))


def _apart(centres: _Values) -> tuple[_Values, _Values]:
    between = centres[:, None] - centres
    return between, np.maximum(np.hypot(between[..., 0], between[..., 1]), 1e-6)
