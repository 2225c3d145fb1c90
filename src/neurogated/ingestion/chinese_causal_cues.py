"""Patterns of causes in Chinese prose. Every match has a Chinese character."""

from __future__ import annotations

import re

from neurogated.ingestion.causal_patterns import FIRM, STRONG, WEAK, Link, Opener, cue

__all__ = ["AHEAD", "EXPLAINED", "LINKS", "OPENERS"]

_BACK = "(?:这|那|此)"
_NOUN = "(?:一|次|场|件|个(?!人)|种|些(?!人)|样|项|番|笔|起|句|条|道|阵|股|段|份|桩|天(?:的|下午的)|回|边|座|批|篇)"
_CAUSES = (
    r"(?:导致|造成|引起|引发|致使|使得|迫使|促使|逼得|害得|弄得|招致|酿成|带来|触发|激怒|惹怒|断送|加速了|推动了|毁了"
    r"|(?<![大即天特公驱行假])使(?![用者馆命劲节唤]))"
)

_POINTS_BACK = cue(
    rf"""
    因此(?!地)|因而|所以|故而|故此|是以|有鉴于此|鉴于此|为此(?!次)|受此|迫于此|在这种情况下|这(?:样|么)一来|如此一来
    由此(?!可|看|向|往|开始|进|出发|前|上|下|处|地|路|门)
    正?因(?:为)?(?:如此|这样|此)
    [就正也只]?是?(?:因为|由于|出于|基于|鉴于|为了|因){_BACK}
    受(?:这|那|其)[^，。；！？]{{0,10}}影响
    (?:其|它的|直接的?|最终的?|最后的?)?(?:后果|结果)(?:就?是|，)
    难怪|怪不得|无怪乎?|以致于?|以至于|致使
    这[就也便正]?是(?=[^，。；？！]{{0,24}}(?:的原因|的缘故|原因所在))|这[就也便正]?是为什么|这[就也便正]?解释了
    {_BACK}(?:举|事|战|案|役|言|令)?(?:也|就|便|直接|最终|随后|立刻|很快|又|才)*(?:{_CAUSES}|让|令|使)
    {_BACK}{_NOUN}[^，。；！？]{{0,10}}?(?:{_CAUSES}|让|令)
    """,
    before="(?:而|也|并且|可是|但|正)?",
)
_LATE_POINTER = cue(
    "因此|因而|为此(?!次)|(?<!之)所以|由此(?!可|向|往|进|出发|前|上|下)|不得不|只好|被迫",
    before="(?!因为|由于|如果|虽然|当|等到|即使|要是|既然)(?:[^，。；？！：]{0,10}[年月日天晨晚夜后前时里中]，)?"
    "[^，。；？！：不没未并因由]{1,12}?",
)
_SO = cue(
    """
    于是(?!否)|不得不|只好|只得|被迫
    结果(?!公布|显示|表明|出来|揭晓|将|会|由|如何|怎|是|还|发布|登)
    """,
    before="(?:而|也|但)?",
)
OPENERS = (
    Opener(_POINTS_BACK, STRONG),
    Opener(_LATE_POINTER, FIRM),
    Opener(_SO, WEAK),
)
"""Cues in the first sentence of a text that point back to the previous text."""

_REASON = cue(
    """
    (?:这|那|此)(?:都|全|正|主要|大概|可能|其实)?(?:是因为|是由于|是由|归咎于|归因于|源于|缘于)
    (?:究其)?原因(?:是|在于|很|有|就|出在|其实|，)
    起因是|祸根是|罪魁祸首是|问题出在|根源(?:在于|是)
    之所以(?:如此|这样)|这都怪|都怪|全怪|都是因为|全因|只因|皆因|盖因|是因为
    """
)
EXPLAINED = Opener(_REASON, FIRM)
"""Cues at the beginning of a text that gives the reason for the previous text."""

_PROMISE = cue(
    """
    (?:带来|造成|产生|引来|招来|有|引发|酿成|留下|种下|埋下)[^，。；！？]{0,8}(?:后果|隐患|祸根|苦果|恶果|大祸|伏笔|连锁反应)
    后果(?:很|非常|十分)?(?:严重|不堪设想|很快|随即|立刻)|付出[^，。；！？]{0,6}代价
    原因(?:很简单|如下|只有一个|有[一二三两]个)[：。]?$
    (?:因此|所以|因为|导致)[，：…]?$
    """
)
AHEAD = Opener(_PROMISE, WEAK)
"""Cues in the last sentence of a text that announce effects or reasons."""

_CAUSE_AFTER = cue(
    """
    (?:因为|由于|鉴于|源于|缘于|归因于|归咎于|多亏|幸亏|都怪|碍于|迫于)(?!什么|此|这样|如此)
    (?:受|在)(?=[^，。；！？]{1,14}影响)
    """
)
_CAUSE_BETWEEN = re.compile(
    r"(?P<cue>因)(?!为|此|而|素|果|缘|特|子|人|地|时|故|应|祸|公)(?P<cause>[^，。；！？而]{2,16})(?=[而，])"
    r"|[由被为系是乃](?P<by>[^，。；！？由被]{1,20}?)(?P<tail>引起|造成|导致|引发|触发|所致|酿成|所毁)"
)
_EFFECT_AFTER = cue("因此|因而|所以|于是|故而|从而|结果", before="(?<=[，；])")
LINKS = (
    Link(_CAUSE_AFTER, cause_follows=True, is_clause=True, strength=FIRM, hints=frozenset()),
    Link(_CAUSE_BETWEEN, cause_follows=True, is_clause=False, strength=FIRM, hints=frozenset()),
    Link(cue(f"{_CAUSES}|以致于?|以至于"), cause_follows=False, is_clause=False, strength=FIRM, hints=frozenset()),
    Link(_EFFECT_AFTER, cause_follows=False, is_clause=True, strength=FIRM, hints=frozenset()),
)
"""Cues between cause and effect in a sentence."""
