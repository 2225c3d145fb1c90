"""The map of a memory: communities as discs that do not overlap, their members inside; and energy over time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from neurogated.components.texts import listed_by
from neurogated.core.clock import to_micros
from neurogated.core.energy import LAYERS, EnergyLaw, Layer, layers_of
from neurogated.core.extras import needs_extra
from neurogated.core.model import MemoryEdge
from neurogated.core.view import GraphView
from neurogated.manifest.model import GraphManifest
from neurogated.server.callers import Caller, CallerOf
from neurogated.server.layout import lay_out
from neurogated.server.models import Memory
from neurogated.viewer.page import ink

with needs_extra("serve"):
    from fastapi import APIRouter, Query
    from pydantic import BaseModel

router = APIRouter(tags=["map"])

_KEYWORDS = 12
_NEIGHBOURS = 40


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
    """An edge between two memories of a neighbourhood."""

    source: str
    target: str
    type: str
    relation: str | None
    weight: float
    light: str
    """The colour of its type on a light background."""
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
    region = _regions_of(manifest, view)
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
        ids=[view.ids[row] for row in rows.tolist()],
        region=region[rows].tolist(),
        x=placed.points[:, 0].round(1).tolist(),
        y=placed.points[:, 1].round(1).tolist(),
        energy=energies.round(3).tolist(),
        layer=layers_of(session.store, view, rows, energies, to_micros(now)).tolist(),
    )


def _regions_of(manifest: GraphManifest, view: GraphView) -> NDArray[np.int64]:
    """Return the region of each row of the view; a manifest may be older or newer than the view."""
    region = np.full(view.node_count, len(manifest.communities), dtype=np.int64)
    for one in manifest.communities:
        region[view.known_rows(one.node_ids)] = one.number
    return region


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
    keys = [view.edge_key(edge) for edge in np.unique(among.edge[np.isin(among.target, rows)]).tolist()]
    return Neighbourhood(
        memories=[Memory.model_validate(one) for one in store.get_nodes([view.ids[row] for row in rows.tolist()])],
        links=[_link(store.get_edge(*key)) for key in keys],
        more=max(0, int(target.size) - _NEIGHBOURS),
    )


def _link(edge: MemoryEdge) -> Link:
    colours = ink(edge.type)
    return Link(
        source=edge.source_id,
        target=edge.target_id,
        type=edge.type.name,
        relation=edge.relation,
        weight=edge.weight,
        light=colours.light,
        dark=colours.dark,
    )
