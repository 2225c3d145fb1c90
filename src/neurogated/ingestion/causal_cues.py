"""Patterns of causes in English and Chinese prose: connectives, and the negations that cancel them."""

from __future__ import annotations

import re

from neurogated.ingestion import chinese_causal_cues
from neurogated.ingestion.causal_patterns import FIRM, STRONG, WEAK, Link, Opener, cue, either, heads

__all__ = [
    "AHEAD",
    "DENIED",
    "EXPLAINED",
    "HYPOTHETICAL",
    "LEADS",
    "LINKS",
    "NEGATED_CAUSE",
    "NEGATED_EFFECT",
    "OPENERS",
    "WAYS",
]

_DUE_VERB = (
    r"(?:be|arrive|leave|depart|sail|open|close|begin|start|end|finish|meet|launch|land|retire|expire|return|play|come|go"
    r"|take|speak|appear)\b"
)
_VERB_STEM = "(?:caus|trigger|prompt|provok|spark|forc|compell|oblig|precipitat|unleash|inspir|persuad|convinc)"
_CAUSES = either(
    rf"""
    (?:led|leads|lead)(?: (?!to\b|by\b)[\w'-]+){{0,6}}? (?:to|into)\b
    (?:{_VERB_STEM}|induc|ignit)(?:ed|es|s|e)\b(?! by\b)
    (?:results?|resulted|ended|culminated) in\b
    (?:brings?|brought) (?:about|on)\b|(?:gives?|gave) rise to\b
    set off (?!for|from|on|in|at|towards?)
    contribut(?:ed|es|e) to\b|puts? (?:an end|paid|a stop) to\b
    (?:meant|means) (?:that|the|no|an?|his|her|\w+ing)\b
    (?:made|makes) it\b|(?:drove|drives)\b|proved fatal
    (?:was|is|were) (?:enough to|to blame)\b
    (?:was|is|were) (?:the|one) (?:\w+ )?(?:reason|cause)s?\b
    """
)
"""Verbs that name a cause for any subject."""
_CHANGED = (
    "ruined|destroyed|wrecked|spoiled|spoilt|killed|kept|stopped|prevented|halted|delayed|blocked|closed|emptied|cut"
    "|knocked|brought|cost|left|sent|doubled|tripled|halved|allowed|enabled|frightened|scared|alarmed|angered|upset"
    "|saved|broke|threw|raised|drained|crippled|flooded|buried|swept|tore|silenced|shut|put|made|earned|won|worried"
    "|encouraged|discouraged|weakened|overloaded|corrupted|froze|filled|slowed|damaged|drew|gave|set|changed|touched"
    "|makes|leaves|keeps|stops|prevents|blocks|allows|breaks|slows|pushed|pulled|split|deprived|stranded"
)
_CHANGES = (
    rf"(?:{_CHANGED}) "
    r"(?!(?:at|in|on|for|by|after|from|hands|of|out|one|two|three|four|five|six|ten|\d+)\b)"
)
"""Verbs that name a cause if their subject is an event."""
_SHELL = (
    r"(?:accident|incident|decision|mistake|error|failure|delay|shortage|loss|change|move|disaster|defeat|victory|news"
    r"|announcement|discovery|collapse|quarrel|scandal|rumou?r|report|outage|crash|explosion|setback|success|discrepancy"
    r"|misunderstanding|omission|oversight|confusion|neglect|refusal|dispute|shock|damage|scare|mix-up|blunder|departure"
    r"|death|absence|resignation|retirement|arrest|illness|injury|marriage|divorce|bankruptcy|closure|negligence"
    r"|carelessness|greed|invention|breakthrough|merger|leak|breach|overload|upgrade|migration|invasion|uprising|boycott)"
)
"""Nouns that summarise the previous text."""
_EVENT = (
    r"(?:storm|fire|flood|rains?|frost|drought|strike|war|plague|fever|heat|cold|snow|wind|gale|ice|fog|tax|ban|leak|bug"
    r"|crash|surge|jam|smoke|ash|blaze|quake|earthquake|avalanche|landslide|lightning|hail|thaw|tide|wave|current|power"
    r" cut|shock|blast|spill|outbreak|epidemic|disease|illness|blight|pollution|noise|dust|mud|silt|heatwave|famine"
    r"|rust|mould|damp|downpour|blackout|outage|error|fault|failure|pressure|strain|load|traffic|vibration|light|salt"
    r"|\w{3,}(?:tion|sion|ment|age|ance|ence|ness|ity|fall|quake)|\w{4,}(?:ing|ure))"
)
"""Nouns for events, in contrast to persons."""
_BACK = r"(?:this|that|these|those|it|them|all this|all that|the above)\b"
_THIS = r"(?:all (?:of )?)?(?:this|that|these|those|such)"
_WAY = (
    "(?:road|path|lane|street|door|gate|track|trail|stair|staircase|step|corridor|passage|tunnel|bridge|hallway|alley|hatch"
    "|ladder|footprint|tunnel|stairway|route|highway|driveway|pipe)s?"
)
# Before such a noun, "this" or "that" refers to a time, a place or a person, and the verb does not mark a cause.
_NO_CAUSE = (
    r"(?:years?|days?|morning|evening|night|weeks?|months?|summer|winter|spring|autumn|time|afternoon|season|decade|who"
    r"|man|woman|boy|girl|is|was|are|were)\b"
)
_ADVERB = r"(?: (?:alone|in turn|soon|also|at once|eventually|then|later|had|has|would|will|[a-z]+ly))"
_BECAUSE_OF = (
    r"(?:because of|owing to|due to|thanks to|on account of|in view of|in (?:the )?light of|given|in consequence of"
    r"|as an? (?:\w+ )?(?:result|consequence) of|in response to|in reaction to)"
)
_AS_A_RESULT = r"as an? (?:\w+ )?(?:result|consequence)\b(?! of\b)|in consequence\b(?! of\b)"

_POINTS_BACK = cue(
    rf"""
    {_BECAUSE_OF} {_BACK}
    {_AS_A_RESULT}|consequently|therefore|accordingly(?! to)|hence\b|thereby
    thus\b(?! (?:far|ended|began|spoke|said|says|wrote|armed|equipped|goes|went|runs|reads|passed|it is|it was)\b)
    (?:for|on) (?:this|that|these|those|the same|which) (?:\w+ )?(?:reasons?|account|grounds?)\b
    (?:so )?(?:which|this|that|it|these)(?: (?:is|was|are|were|explains|explained)|'s) (?:\w+ )?(?:why|the reasons?)\b
    in (?:response|reaction|protest|revenge|retaliation|desperation)\b(?! (?:to|at|against|for|of)\b)
    [a-z]{{3,}}(?:ed|ous|ven) (?:by|at|about|over|with) (?:this|that|these|those)\b
    (?:from|out of) (?:this|that|these) (?:\w+ )?(?:came|arose|sprang|followed|grew)\b
    """,
    before=r"(?:(?:partly|mainly|largely|precisely|perhaps|probably|only|just|and|but|yet|now) )?"
    r"(?:it (?:was|is) (?=because|for\b|owing|due|on\b|thanks|in\b|as\b))?",
)
_THIS_CAUSED = cue(
    rf"""
    {_THIS}(?: (?!{_NO_CAUSE}|{_WAY}\b)(?:of )?[\w'-]+){{0,4}}? {_CAUSES}
    {_THIS}(?: (?:[a-z]+ )?(?:{_SHELL}|{_EVENT}))?{_ADVERB}{{0,2}} {_CHANGES}
    (?:such|so) (?!(?:far|many|much|that)\b)[\w'-]+ an? [\w'-]+ {_CAUSES}
    it (?:soon |also |eventually |would |had |\w+ly )?{_CAUSES}
    (?:the|his|her|their|its|our|my) (?:[a-z]+ )?{_SHELL}{_ADVERB}{{0,2}} {_CAUSES}
    (?:the|one|an?|its|their) (?:\w+ ){{0,2}}(?:result|upshot|consequence|effect)s? (?:was|is|were) (?!\d|published)
    """
)
_LATE_POINTER = cue(
    rf"""
    therefore|consequently|accordingly(?! to)|{_AS_A_RESULT}|for (?:this|that) reason
    (?:because of|owing to|due to|thanks to|on account of) {_BACK}
    """,
    before=r"(?!(?:when|after|if|because|since|as|while|although|though|once|before|until|what|why|how|not|no)\b)"
    r"[^;:—?!.\"“”,]{1,60}?(?:, (?!and|but|so|or|which|who|because|since|for|as )[^;:—?!.\"“”,]{1,40}?)?"
    r"(?<!and)(?<!but)(?<!, ),? ",
)
_SO = cue(
    r"""
    so(?=,)(?!, (?:let|what|how|why|who|where|when|to begin|as i)\b)
    so\b(?=[ ])(?! (?:far|many|much|long|that|what|why|how|who|when|where|be|did|do|does|was|were|is|are|has|had)\b)"""
    r"""(?! (?:have|will|would|could|can|too|called|let|to|goes|few|little|said|ends|ended|began|begins|on)\b)"""
    r"""(?! (?:it (?:is|was) (?:said|told|that|with)|it (?:went|goes|continued|began)|we (?:come|turn)|they say)\b)"""
    r"""(?! (?:the (?:story|tale|legend)|[a-z]+ (?:an?|was|were|did|is|are))\b)
    """,
    before="(?:and )?",
)
_NO_CHOICE = cue(
    r"""
    no (?:choice|option|alternative) but|(?:no|little|small) wonder
    (?:was|were) (?:\w+ )?(?:forced|obliged|compelled) to
    """,
    before=r"[^;:?!.]{0,60}?\b",
)
OPENERS = (
    Opener(_POINTS_BACK, STRONG),
    Opener(_THIS_CAUSED, STRONG),
    Opener(_LATE_POINTER, FIRM),
    Opener(_SO, WEAK),
    Opener(_NO_CHOICE, WEAK),
    *chinese_causal_cues.OPENERS,
)
"""Cues in the first sentence of a text that point back to the previous text."""

_REASON = cue(
    rf"""
    (?:it|this|that|these|all this|they|he|she|we|i)(?:'s)?"""
    rf"""(?: (?:was|is|were|had|has|have|all|did|does|do|happened|came|about|so|been|that|must|may|\w+ly)){{0,4}} """
    rf"""(?:because\b(?! of {_BACK})|due to(?! {_DUE_VERB})|owing to|thanks to|on account of|as a result of"""
    rf"""|(?:caused|triggered|prompted|brought (?:on|about)) by|the (?:result|consequence) of)\b
    the (?:\w+ )?(?:reasons?|cause|culprit|explanation)(?: (?:for|of|behind) (?:this|that|it))? (?:was|is|were|lay)\b
    the blame (?:lay|fell)|behind (?:this|it|that) (?:lay|was|were|is)\b
    """
)
EXPLAINED = (
    Opener(_REASON, FIRM),
    chinese_causal_cues.EXPLAINED,
)
"""Cues at the beginning of a text that gives the reason for the previous text."""

_PROMISE = cue(
    r"""
    (?:would|will|(?:was|were|is|going) to|soon|could only|ha[ds]|have) (?:soon |later |also |yet |have |\w+ly ){0,2}"""
    r"""(?:(?:(?!no\b|few\b|little\b)\w+ ){0,3}(?:consequences|repercussions)"""
    r"""|prove (?:\w+ )?(?:costly|fatal|disastrous|expensive|decisive|fateful|a mistake|ruinous|unwise)"""
    r"""|cost (?:[\w]+ ){1,3}dear(?:ly)?|change everything|regret (?:it|this|that|his|her|the)"""
    r"""|pay (?:\w+ ){0,2}for (?:it|this|that)|come back to haunt)\b
    (?:with|the) (?:(?!no\b)\w+ ){0,2}consequences (?:that|were|followed|would|came|for|no one|nobody)\b
    (?:began|start(?:ed)?|set off|unleash(?:ed)?|trigger(?:ed)?) (?:a|the|this) (?:\w+ )?chain of events
    (?:which|that|this) (?:is|was) why[\s:,…—]*$
    \b(?:because|therefore|as a result|consequently)[\s:,…—]*$
    for (?:one|this|a) (?:\w+ )?reason:
    (?:the|a) (?:\w+ )?(?:reason|cause)(?: for (?:this|it))? (?:was|is) (?:simple|plain|this|as follows|clear)\b
    there (?:was|is) (?:a|one) (?:\w+ )?(?:reason|cause)\b
    """
)
AHEAD = (
    Opener(_PROMISE, WEAK),
    chinese_causal_cues.AHEAD,
)
"""Cues in the last sentence of a text that announce effects or reasons."""

_CAUSE_PHRASE_AFTER = cue(
    rf"""
    (?:because of|owing to|due to(?! {_DUE_VERB})|thanks to|on account of|as an? (?:\w+ )?(?:result|consequence) of)\b
    (?:in consequence of|in response to|in reaction to|for (?:lack|want|fear) of|by reason of|by virtue of|in view of)\b
    (?:result(?:ed|s|ing)|stem(?:med|s|ming)|arose|arising|sprang|derived|came about|suffer(?:ed|ing|s)?) from\b
    (?:died|die|dying|perished) (?:of|from)\b
    (?:blamed?(?: it)? on|attributed to|traced (?:back )?to|put down to)\b
    (?:caus|trigger|spark|provok|prompt|forc|produc|explain|ruin|destroy|kill|spoil|damag|wreck|delay)\w* (?:on )?by\b
    (?:brought|driven|forced|set|started|stopped|inspired|worn) (?:about |on |off |out |down )?by\b
    (?:was|is|were|are) (?:the|a|one) (?:\w+ )?(?:result|consequence|product) of\b
    """,
    before=r"\b",
)
_CAUSE_CLAUSE_AFTER = cue(
    r"""
    \b(?:because(?! of\b)|given that|seeing that|now that|inasmuch as|on the grounds that)\b
    (?<!ever )\bsince\b(?! (?:\d|then|ever|last|the (?:days?|time|end|war|beginning|start|age)|early|late|about)\b)"""
    r"""(?! (?:january|february|march|april|may|june|july|august|september|october|november|december)\b)
    , for (?=(?:he|she|it|they|we|i|there|no|nobody|the (?:\w+ ){1,2}(?:had|was|were|did|could))\b)
    """
)
_EFFECT_PHRASE_AFTER = cue(
    rf"""
    {_CAUSES}
    {_VERB_STEM}ing\b|(?:leading|resulting) (?:to|in)\b
    (?:was|were|is) (?:\w+ )?(?:blamed|responsible|to blame) for\b
    made (?:[\w]+ ){{1,4}}?(?:impossible|impassable|useless|unusable|unsafe|necessary|unfit)\b
    """,
    before=r"\b",
)
_EVENT_CHANGES = cue(
    _CHANGES,
    before=r"(?P<cause>\b(?:the|his|her|their|its|this|that|these|those|such|an?|no|more|heavy|so much) "
    rf"(?:[\w'-]+ ){{0,3}}?{_EVENT})(?: (?:had|also|soon|then|has|would|\w+ly)){{0,2}} ",
)
_EFFECT_CLAUSE_AFTER = cue(
    rf"""
    (?:,|;| and\b|—) ?(?:and )?so\b(?! (?:that|far|many|much|long|on|forth|as|did|do|was|were|is|too|\w+ (?:that|as))\b)
    (?:,|;| and\b|—) ?(?:and )?(?:therefore|consequently|hence|thus|with the result that|{_AS_A_RESULT})\b
    (?:,|;|—) ?(?:which|that) (?:is|was) why\b
    (?:,|—) ?which (?:\w+ly |in turn |had |also )?(?:{_CAUSES}|meant|{_CHANGES})
    [ ](?:was|were|is|grew|became|got) so (?:\w+ ){{1,3}}that\b
    """
)
_CIRCUMSTANCE = cue(
    r"""
    without[ ]|with (?=no |nothing |so (?:many|much|few|little) )
    with (?=[^,;]{3,60}?(?:\w{3}ed|gone|out|shut|down|dead|lost|broken|empty|away|off|unable|missing|asleep)\b)
    """,
    before="(?:^|; |, and )",
)
LINKS = (
    Link(
        _CAUSE_PHRASE_AFTER,
        cause_follows=True,
        is_clause=False,
        strength=FIRM,
        hints=heads(
            """because owing due thanks account result consequence response reaction lack want fear reason virtue view
            arising stem arose sprang derived came suffer die died dying perished blame attributed traced put cause
            trigger spark provoke prompt force produce explain ruin destroy kill spoil damage wreck delay brought driven
            set started stopped inspired worn product"""
        ),
    ),
    Link(
        _CAUSE_CLAUSE_AFTER,
        cause_follows=True,
        is_clause=True,
        strength=FIRM,
        hints=heads("because given seeing now inasmuch grounds since for"),
    ),
    Link(
        _EFFECT_PHRASE_AFTER,
        cause_follows=False,
        is_clause=False,
        strength=FIRM,
        hints=heads(
            f"""{_VERB_STEM} led lead induce ignite result ended culminated bring brought give gave set contribute put
            puts meant means made makes drove drives proved enough blame reason cause responsible"""
        ),
    ),
    Link(_EVENT_CHANGES, cause_follows=False, is_clause=False, strength=WEAK, hints=heads(_CHANGED)),
    Link(
        _EFFECT_CLAUSE_AFTER,
        cause_follows=False,
        is_clause=True,
        strength=FIRM,
        hints=heads("so therefore consequently hence thus result consequence why which"),
    ),
    Link(_CIRCUMSTANCE, cause_follows=True, is_clause=True, strength=WEAK, hints=heads("with without")),
    *chinese_causal_cues.LINKS,
)
"""Cues between cause and effect in a sentence."""

WAYS = re.compile(rf"\b{_WAY}\b", re.IGNORECASE)
"""Nouns such as "road" that lead to a place without being a cause."""

NEGATED_CAUSE = re.compile(
    r"(?:\b(?:not|never|nor|neither|hardly|scarcely|less|rather than|instead of|as if|as though|whether)|n't)"
    r"(?: (?:at|all|really|thought|believed|to|be|been|mainly|actually|directly|simply|in|any|way|it|is|was|were))*"
    r" ?\Z|(?:不是|并非|绝非|不|非|未|没有|没|未必|是否|与其说是)\Z",
    re.IGNORECASE,
)
"""Words directly before a cue that deny the cause."""

NEGATED_EFFECT = re.compile(
    r"(?:\b(?:not|never|hardly|scarcely|neither|nor|cannot|without|instead of|rather than|far from|nothing|none)"
    r"|\bwhether|n't)(?! (?:only|just|merely|simply|least|once))(?: [\w'-]+){0,3} ?\Z"
    r"|\b(?:no|nobody|few) (?!longer|doubt|fewer)(?:[\w'-]+ ){1,2}(?:ever )?\Z"
    r"|\b(?:would|could|might|should) (?:\w+ )?have \Z|\b(?:to|could|may|might) (?:\w+ly )?\Z"
    r"|(?:不|没有|没|未|并未|未能|不会|不曾|未曾|没能|避免|防止|以免|可能|会|是否|足以)(?:直接|真正|因此|就此|再)?\Z",
    re.IGNORECASE,
)
"""Words before a cue whose effect is denied, feared or intended."""

DENIED = cue(
    r"""
    \b(?:coincidence|coincidental|unrelated|wrongly|mistakenly|falsely|myth|ruled out|disproved|unlikely)\b
    \b(?:nothing to do with|no (?:evidence|connection|link|proof)|(?:had|has|have) no (?:effect|bearing|influence))\b
    \b(?:den(?:ied|ies) that|doubt(?:ed|s|ful)? (?:that|whether|if))\b
    \bnot (?!only)[^.;]{1,60}\bbecause\b[^.;]{1,60}\bbut (?:rather )?(?:because|owing|due|for)\b
    无关|巧合|毫无关系|没有关系|没有任何联系|谣言|误以为|误传|错误地|没有证据|否认|排除了
    """
)
"""Patterns of sentences that deny a connection."""

HYPOTHETICAL = cue(
    r"""
    (?:if|whether|suppose|unless|had it not|is|was|were|are|did|does|do|could|can|would)\b
    如果|假如|要是|倘若|万一|是不是|难道|是否
    """
)
"""Beginnings of hypothetical sentences and of questions."""

LEADS = re.compile(
    r"""[\s"'“\u2018「『(*_\[—–-]*
    (?:(?:yes|no|well|true|right|exactly|indeed|of\s+course|quite|ah|oh|i\s+see|listen|look)\b[\s,.!:;—–-]*["“]?
      |(?:对|是的|没错|嗯|唉|哎|不错)[，。！,]
      |[^.!?。！？,，;；:："“「]{1,40}(?:[:,]\s+["“]|[：，][“「])(?=\S)
    )?[\s…]*""",
    re.IGNORECASE | re.VERBOSE,
)
"""Quotation marks, interjections or a speaker before the first significant word."""
