"""Explicit connectives of cause and effect in English and Chinese, and the words that cancel them."""

from __future__ import annotations

import re
from typing import NamedTuple

# Weight of a family of cues without word overlap.
_STRONG, _FIRM, _WEAK = 0.8, 0.7, 0.6


class Opener(NamedTuple):
    """A cue at the beginning of a text that refers to the text before it, or at its end to the text after it."""

    pattern: re.Pattern[str]
    """Its group `cue` is quoted in reasons."""
    strength: float
    """0–1: the weight of the link without overlap."""


class Link(NamedTuple):
    """A cue between a cause and an effect in one sentence."""

    pattern: re.Pattern[str]
    """Its group `cue` is quoted in reasons. Its group `cause`, if present, is the cause."""
    cause_follows: bool
    """Whether the cause is after the cue and the effect before it."""
    is_clause: bool
    """Whether the cause is a clause. A common word in a clause is weaker evidence than one in a noun phrase."""


def _cue(lines: str, before: str = "") -> re.Pattern[str]:
    """Compile a cue that matches any of the lines. Texts must have single spaces and straight apostrophes."""
    return re.compile(f"{before}(?P<cue>{'|'.join(map(str.strip, lines.strip().splitlines()))})", re.IGNORECASE)


_CAUSES = (
    r"(?:(?:led|leads|lead)(?: (?!(?:to|by|his|her|its|our|their)\b)[\w'-]+){0,4}? (?:to|into)\b"
    r"|(?:caus|trigger|prompt|provok|spark|forc|compell|unleash|induc)(?:ed|es|s|e)\b(?! by\b)"
    r"|(?:results?|resulted|ended|culminated) in\b|(?:brings?|brought) (?:about|on)\b|(?:gives?|gave) rise to\b"
    r"|contribut(?:ed|es) to\b|(?:meant|means) (?:that|the|no|an?|his|her)\b|(?:made|makes) it\b|(?:drove|drives)\b"
    r"|(?:was|is|were) (?:the|one) (?:\w+ )?(?:reason|cause)s?\b)"
)
_BACK = r"(?:this|that|these|those|it|them|all this|all that)\b"
_BECAUSE_OF = r"(?:because of|owing to|due to|thanks to|on account of|as an? (?:\w+ )?(?:result|consequence) of)"
_AS_A_RESULT = r"as an? (?:\w+ )?(?:result|consequence)\b(?! of\b)|in consequence\b(?! of\b)"
# Before such a noun, "this" or "that" refers to a time, a place or a person, and the verb does not mark a cause.
_NO_CAUSE = (
    r"(?:years?|days?|morning|evening|night|weeks?|months?|summer|winter|spring|autumn|time|who|man|woman|boy|girl"
    r"|road|path|lane|street|door|gate|track|stairs?|corridor|tunnel|bridge)\b"
)
_ZH_CAUSES = "(?:导致|造成|引起|引发|致使|使得|迫使|促使|带来|酿成|触发)"

OPENERS = (
    Opener(
        _cue(
            rf"""
            {_BECAUSE_OF} {_BACK}
            {_AS_A_RESULT}|consequently|therefore|accordingly(?! to)|hence\b
            thus\b(?! (?:far|ended|began|spoke|said|says|wrote|armed|equipped|goes|went|runs|reads|passed)\b)
            for (?:this|that|these|those) (?:\w+ )?reasons?\b
            (?:so )?(?:which|this|that|it)(?: (?:is|was|explains)|'s) (?:\w+ )?(?:why|the reasons? (?:why|that)\b)
            """,
            before="(?:(?:partly|mainly|largely|perhaps|probably|just|and|but) )?(?:it (?:was|is) (?=because|for ))?",
        ),
        _STRONG,
    ),
    Opener(
        _cue(
            rf"""
            (?:all )?(?:this|that|these|those|such)(?: (?!{_NO_CAUSE})[\w'-]+){{0,3}}? {_CAUSES}
            it (?:soon |also |eventually |\w+ly )?{_CAUSES}
            the (?:\w+ ){{0,2}}(?:result|upshot|consequence)s? (?:was|were) (?!\d|published)
            """
        ),
        _STRONG,
    ),
    Opener(
        _cue(
            rf"""
            (?:it|this|that|these|they|he|she|we|i)(?: (?:was|is|were|had|has|all|did|happened|came|\w+ly)){{0,3}} """
            rf"""(?:because\b(?! of {_BACK})|owing to|thanks to|on account of|as a result of|caused by)\b
            the (?:\w+ )?(?:reasons?|cause)(?: (?:for|of|behind) (?:this|that|it))? (?:was|is|were)\b
            """
        ),
        _FIRM,
    ),
    Opener(
        _cue(
            rf"""
            therefore|consequently|accordingly(?! to)|{_AS_A_RESULT}|for (?:this|that) reason
            (?:because of|owing to|due to|thanks to|on account of) {_BACK}
            """,
            before=r"(?!(?:when|after|if|because|since|as|while|although|though|once|before|until|what|why|how|not|no)\b)"
            r"[^;:—?!.\"“”,]{1,60}?(?<!and)(?<!but),? ",
        ),
        _FIRM,
    ),
    Opener(
        _cue(
            r"""
            so(?=,)(?!, (?:let|what|how|why|who|where|when)\b)
            so\b(?= )(?! (?:far|many|much|long|that|what|why|how|who|when|where|be|did|do|does|was|were|is|are)\b)"""
            r"""(?! (?:has|had|have|will|would|could|can|too|called|let|to|goes|few|little|said|ended|began|on)\b)"""
            r"""(?! [a-z]+ (?:an?|was|were|did|is|are)\b)
            """,
            before="(?:and )?",
        ),
        _WEAK,
    ),
    Opener(
        _cue(r"no (?:choice|option) but|(?:was|were) (?:forced|obliged|compelled) to", before=r"[^;:?!.]{0,60}?\b"),
        _WEAK,
    ),
    Opener(
        _cue(
            rf"""
            因此(?!地)|因而|所以|故而|有鉴于此|为此(?!次)|这(?:样|么)一来|如此一来|由此(?!可|看|向|往|开始|进|出|前|上|下)
            正?因(?:为)?(?:如此|这样|此)|(?:因为|由于|出于|为了)(?:这|那|此)|难怪|怪不得|以致于?|以至于|致使
            (?:其|直接的?|最终的?|最后的?)?(?:后果|结果)(?:就?是|，)
            这[就也便正]?是(?=[^，。；？！]{{0,24}}(?:的原因|的缘故))|这[就也便正]?是为什么
            [这那此][^，。；？！]{{0,8}}?(?:{_ZH_CAUSES}|使|让)
            """,
            before="(?:而|也|并且|但|正)?",
        ),
        _STRONG,
    ),
    Opener(
        _cue(
            "因此|因而|(?<!之)所以|不得不|只好|被迫",
            before="(?!因为|由于|如果|虽然|当|等到|即使|要是|既然)(?:[^，。；？！：]{0,10}[年月日天晨晚夜后前时里中]，)?"
            "[^，。；？！：不没未并因由]{1,12}?",
        ),
        _FIRM,
    ),
    Opener(
        _cue(
            """
            [这那此](?:都|全|正|主要|可能|其实)?(?:是因为|是由于|归咎于|归因于|源于)
            (?:究其)?原因(?:是|在于|很|有|就|，)|起因是|问题出在|根源(?:在于|是)|都怪|都是因为|只因|是因为
            """
        ),
        _FIRM,
    ),
    Opener(_cue("于是(?!否)|不得不|只好|只得|被迫", before="(?:而|也|但)?"), _WEAK),
)
"""Cues in the first sentence of a text that refer to the previous text."""

AHEAD = Opener(
    _cue(
        r"""
        (?:which|that|this) (?:is|was) why[\s:,…—]*$|\b(?:because|therefore|as a result|consequently)[\s:,…—]*$
        for (?:one|this|a) (?:\w+ )?reason:|(?:因此|所以|因为|导致)[，：…]?$
        (?:would|will) (?:\w+ ){0,2}(?:(?!no\b|few\b)\w+ ){0,2}consequences\b
        [埋种留]下[^，。；！？]{0,8}(?:后果|隐患|祸根|恶果)
        """
    ),
    _WEAK,
)
"""Cues in the last sentence of a text that announce effects or reasons."""

LINKS = (
    Link(
        _cue(
            rf"""
            {_BECAUSE_OF}\b(?! (?:be|arrive|leave|open|close|begin|start|end|finish|return)\b)
            (?:result(?:ed|s|ing)|stem(?:med|s|ming)|arose) from\b|(?:died|dying) (?:of|from)\b|blamed on
            (?:caus|trigger|spark|provok|prompt|forc|explain|ruin|destroy|spoil|damag|wreck|delay)\w* (?:on )?by\b
            """,
            before=r"\b",
        ),
        cause_follows=True,
        is_clause=False,
    ),
    Link(_cue(r"\b(?:because(?! of\b)|given that|now that)\b"), cause_follows=True, is_clause=True),
    Link(_cue(rf"{_CAUSES}|(?:leading|resulting) (?:to|in)\b", before=r"\b"), cause_follows=False, is_clause=False),
    Link(
        _cue(
            r"(?:,|;| and\b|—) ?(?:and )?(?:therefore|consequently|hence|thus|so\b(?! (?:that|far|many|much|long)\b))"
        ),
        cause_follows=False,
        is_clause=True,
    ),
    Link(
        _cue("(?:因为|由于|鉴于|源于|归因于|归咎于|多亏|都怪)(?!什么|此|这样|如此)"), cause_follows=True, is_clause=True
    ),
    Link(
        re.compile(r"(?P<cue>因)(?!为|此|而|素|果|缘|特|子|人|地|时|故|应)(?P<cause>[^，。；！？而]{2,16})(?=[而，])"),
        cause_follows=True,
        is_clause=False,
    ),
    Link(
        re.compile(r"[由被为系是](?P<cause>[^，。；！？由被]{1,20}?)(?P<cue>引起|造成|导致|引发|触发|所致)"),
        cause_follows=True,
        is_clause=False,
    ),
    Link(_cue(f"{_ZH_CAUSES}|以致于?|以至于"), cause_follows=False, is_clause=False),
    Link(_cue("因此|因而|所以|于是|从而", before="(?<=[，；])"), cause_follows=False, is_clause=True),
)
"""Cues between cause and effect in a sentence."""

NEGATED = re.compile(
    r"(?:\b(?:not|never|hardly|scarcely|neither|nor|cannot|without|instead of|rather than|whether|as if)|n't)"
    r"(?! (?:only|just|merely|simply|least))(?: [\w'-]+){0,3} ?\Z"
    r"|\b(?:no|nobody|few) (?:[\w'-]+ ){1,2}\Z|\b(?:would|could|might|should) (?:\w+ )?have \Z"
    r"|\b(?:to|could|may|might) \Z"
    r"|(?:不是|并非|不|非|没有|没|未|未能|不会|避免|防止|以免|可能|会|是否)(?:直接|真正|因此|就此|再)?\Z",
    re.IGNORECASE,
)
"""Words directly before a cue that deny, fear or intend it."""

DENIED = _cue(
    r"""
    \b(?:coincidence|coincidental|unrelated|wrongly|mistakenly|falsely|ruled out|unlikely|nothing to do with)\b
    \bno (?:evidence|connection|link|proof|effect)\b|\b(?:den(?:ied|ies) that|doubt(?:ed|s|ful)? (?:that|whether|if))\b
    无关|巧合|没有关系|没有任何联系|谣言|误以为|没有证据|否认|排除了
    """
)
"""Words of sentences that deny a connection."""

HYPOTHETICAL = _cue(
    r"(?:if|whether|suppose|unless|had it not|is|was|were|are|did|does|do|could|can|would)\b"
    r"|如果|假如|要是|是不是|难道|是否"
)
"""Beginnings of hypothetical sentences and of questions."""

ASKS_WHY = re.compile(r"(?:\b(?:why|how come|what caused)\b|为什么|为何|怎么).*[?？]", re.IGNORECASE)
ANSWERS = re.compile(r"(?P<cue>because|owing to|due to|on account of|thanks to|因为|由于)", re.IGNORECASE)

LEADS = re.compile(
    r"""[\s"'“\u2018「『(*_\[—–-]*
    (?:(?:yes|no|well|true|right|exactly|indeed|oh|i\s+see)\b[\s,.!:;—–-]*["“]?
      |(?:对|是的|没错|不错)[，。！,]
      |[^.!?。！？,，;；:："“「]{1,40}(?:[:,]\s+["“]|[：，][“「])(?=\S)
    )?[\s…]*""",
    re.IGNORECASE | re.VERBOSE,
)
"""Quotation marks, interjections or a speaker before the first significant word."""
