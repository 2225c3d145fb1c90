"""How memories gain and lose energy, move between tiers, and become facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from neurogated.config.setting import check, setting
from neurogated.errors import ConfigError

_SHORTEST, _LONGEST = 0.001, 3_650_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MetabolismSettings:
    """How memories gain and lose energy, move between tiers, and become facts."""

    # Importance and duplicates
    judge_importance: str = setting(
        "offline",
        "judges how important a memory is if the caller does not say; offline: a regression; model: the language "
        "model, else the regression; off: all memories alike, and none dormant",
        choices=("offline", "model", "off"),
    )

    temporal_neighbors: int = setting(
        0,
        "active memories of its user to which a new memory gets a temporal edge, those with most energy first",
        low=0,
    )

    find_duplicates: bool = setting(
        True, "link memories of one owner with equal texts, and recall only the first of them"
    )

    # Energy
    half_lives: str = setting(
        "180, fact=3650, profile=3650, turn=15",
        "half-lives in days of the energy of memories without access: one for all kinds (180 if left out) and others "
        "by kind, separated by commas",
    )

    # Tiers
    canvas_size: int = setting(100, "memories on the canvas of all and on that of each session", low=0)

    # Facts
    facts_url: str | None = setting(
        None,
        "SQL database that shows the facts as rows, as sqlite:///FILE or postgresql://HOST/DATABASE; off: no rows; "
        "none: the file facts.db in save_dir, if the extra 'facts' is installed",
    )

    # Working canvas
    canvas_url: str | None = setting(
        None, "Redis server whose canvases processes share, as redis://HOST or unix://PATH; none: in the process"
    )

    # Consolidation: facts of one subject become profiles, and memories that are used together become one text.
    consolidate_seconds: float = setting(
        0.0, "seconds between two consolidations in the background; 0: none there", low=0.0, high=31_536_000.0
    )
    consolidation_uses: int = setting(3, "a memory enters a cluster after this many uses", low=0)

    # Facts from speech need a language model (ADR 47).
    read_claims: str = setting(
        "model",
        "reads what messages say; model: the language model, and without one nothing is read; off: nothing. Stated "
        "facts are known in any case",
        choices=("model", "off"),
    )

    # A model judges the pairs of memories that no slot connects.
    judge: str = setting(
        "model",
        "judges pairs of memories that no slot connects; model: the language model; off: nothing; unchecked: nothing, "
        "and facts of one slot are not compared, either; else the name or the folder of a cross-encoder on this "
        "machine, one of whose classes is contradiction",
    )

    # Echoes
    echoes: str = setting(
        "link",
        "link: messages of the assistant are linked to recalled memories that they repeat; skip: memories that a "
        "message repeats as a block of `get_context` or `as_text` are not stored again, either; off: neither",
        choices=("link", "skip", "off"),
    )

    def __post_init__(self) -> None:
        if self.read_claims == "offline":
            raise ConfigError(
                "metabolism.read_claims is 'offline', which is gone: the rules that read facts from speech without a "
                "model were wrong too often; leave it at 'model' with a language model, or set 'off'"
            )
        check(self, "metabolism.")
        self.half_life_of_kinds  # noqa: B018 - raises if the text cannot be read

    @property
    def compares_facts(self) -> bool:
        """Whether new facts are compared with the known ones, and contradictions recorded."""
        return self.judge != "unchecked"

    @property
    def dormant_energy(self) -> float:
        """A dormant memory has less energy than this; half-lives say when."""
        return 0.0 if self.judge_importance == "off" else 0.1

    @property
    def half_life_of_kinds(self) -> Mapping[str, float]:
        """The half-lives of `half_lives` by kind, in days; that of all other kinds has the name ""."""
        found = {"": 180.0}
        for part in filter(str.strip, self.half_lives.split(",")):
            kind, named, text = (word.strip() for word in part.rpartition("="))
            try:
                days = float(text)
            except ValueError:
                days = 0.0
            if bool(kind) != bool(named) or not _SHORTEST <= days <= _LONGEST:
                raise ConfigError(
                    f"metabolism.half_lives has {part.strip()!r}, but must have days, or a kind and its days, such "
                    "as 180, fact=3650"
                )
            found[kind] = days
        return found
