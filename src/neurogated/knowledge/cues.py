"""Words that say how a statement is meant: asked, supposed, wished, joked, said by another, past, new or corrected."""

from __future__ import annotations

import re

from neurogated.text.words import words_of

__all__ = [
    "ADDED",
    "BROKEN",
    "CONVERSE",
    "CORRECTED",
    "ENDED",
    "HOLDERS",
    "LASTING",
    "LIGHT",
    "MODES",
    "NOW",
    "OPPOSED_ROLES",
    "PASSIVE",
    "PAST",
    "PREPOSITIONS",
    "PRONOUNS",
    "QUANTIFIERS",
    "RECIPROCAL",
    "SUBJECTS",
    "TODAY",
]

_CASE = re.IGNORECASE


_QUESTION = r"[?？]\s*[\"”’»)\]]*\s*$|[吗呢]\s*[。.!！]?\s*$|^\s*¿|^\s*(?:est-ce|do you|are you|is it|did you)\b"
_SUPPOSED = (
    r"(?<!as )\bif\b|\bsuppos(?:e|ed|ing)\b|\bassum(?:e|ing)\b|\bwould(?!n't)(?! like| love| prefer)\b|\b(?:might|perhaps|maybe"
    r"|possibly|imagine|hypothetically|unless)\b|\bcould (?:be|have)\b|\bmay (?:be|have|not)\b|\bthinking (?:about|of)\b"
    r"|\bconsidering\b|\blet's say\b|\bin case\b"
    r"|\b(?:wenn|falls|sofern|angenommen|vielleicht|möglicherweise|eventuell|wäre|würden?|hätten?|könnten?)\b"
    r"|(?:^|\W)si (?!bien)(?!e )|\b(?:quizás?|tal vez|acaso|supongamos|supón|ojalá|podría|sería|habría|viviría|tendría)\b"
    r"|\b(?:supposons|peut-être|serait|aurait|pourrait)\b"
    r"|如果|假如|假设|要是|倘若|也许|可能|或许|大概"
)
_WISHED = (
    r"\bi (?:wish|hope|want to|would (?:like|love) to|plan to|intend to|dream)\b|\bich (?:wünsch|hoff|hätte|möchte|würde|will)\w*"
    r"|\b(?:ojalá|espero|quiero|quisiera|me gustaría)\b|\b(?:j'espère|je voudrais|j'aimerais)\b|希望|但愿|想要|打算"
)
_JOKED = (
    r"\b(?:just|only) (?:kidding|joking|a joke)\b|\b(?:joking|kidding|lol|haha+|hehe|jk|as a joke|in jest|sarcas\w+)\b"
    r"|\bnur spa(?:ß|ss)\b|\b(?:scherz|im spaß|kleiner witz)\b|\b(?:es|en|era) broma\b|\bbromeando\b|\bjajaja\w*|\bje plaisante\b"
    r"|\bc'est une blague\b|开玩笑|哈哈|逗你"
)
MODES = {
    "asked": re.compile(_QUESTION, _CASE),
    "supposed": re.compile(_SUPPOSED, _CASE),
    "wished": re.compile(_WISHED, _CASE),
    "joked": re.compile(_JOKED, _CASE),
}
"""Ways of saying something without asserting it."""
_THINK = (
    r"(?:thinks?|thought|believes?|believed|says?|said|claims?|claimed|feels|felt|considers?|finds|found|insists?|reckons?|argues?"
    r"|suspects?|told (?:me|us|him|her|them)|assumes?|supposes?|maintains?)"
)
_ANY_NAME = (
    r"(?P<holder>(?:(?:my|our|his|her|their|the|dr\.?|mr\.?|mrs\.?|ms\.?)\s+)?[^\W\d_][\w'’-]*(?:\s[A-ZÄÖÜ][\w'’-]*)?)"
)
HOLDERS = (
    re.compile(rf"^\W*{_ANY_NAME}\s+{_THINK}\b(?:\s+that)?\s*[:,]?\s*[\"“”]?", _CASE),
    re.compile(rf"^\W*(?:according to|in the (?:opinion|view) of)\s+{_ANY_NAME}\s*,?\s*", _CASE),
    re.compile(
        r"^\W*(?P<holder>(?:(?:mein\w*|unser\w*|sein\w*|ihr\w*|der|die)\s+)?[^\W\d_]\w*)\s+"
        r"(?:glaubt\w*|glaube|denkt|meint\w*|sagt\w*|findet|finde|behauptet\w*)\b\s*(?:,\s*dass)?\s*[:,]?\s*[\"„“”]?",
        _CASE,
    ),
    re.compile(r"^\W*(?:laut|nach ansicht von|zufolge)\s+(?P<holder>[^\W\d_]\w*)\s+", _CASE),
    re.compile(
        r"^\W*(?P<holder>(?:(?:mi|nuestr[oa]|su|el|la)\s+)?[^\W\d_]\w*)\s+"
        r"(?:cree|creo|piensa|pienso|dice|dijo|opina|opino|afirma|considera)\b\s*(?:que)?\s*[:,]?\s*[\"«“]?",
        _CASE,
    ),
    re.compile(r"^\W*según\s+(?P<holder>[^\W\d_]\w*)\s*,?\s*", _CASE),
    re.compile(
        r"^\W*(?P<holder>(?:(?:ma|mon|notre|sa|son|le|la)\s+)?[^\W\d_]\w*)\s+"
        r"(?:croit|pense|dit|affirme|trouve)\b\s*(?:que|qu')?\s*[:,]?\s*[\"«“]?",
        _CASE,
    ),
    re.compile(r"^\W*(?:selon|d'après)\s+(?P<holder>[^\W\d_]\w*)\s*,?\s*", _CASE),
    re.compile(r"^\W*(?P<holder>[\u4e00-\u9fff]{1,5}?)(?:觉得|认为|相信|说(?!错)|表示)[,，:：]?[\"“]?"),
    re.compile(r"^\W*(?:据|根据)(?P<holder>[\u4e00-\u9fff]{1,5}?)(?:说|称|介绍)?[,，]"),
)
"""The person whose opinion or words a statement reports."""
PAST = re.compile(
    r"\b(?:used to|formerly|previously|back then|in the past|once upon)\b|\b(?:früher|damals|ehemals|einst)\b"
    r"|\b(?:antes(?! de)|antiguamente|solía)\b|\b(?:autrefois|anciennement|avant(?=,| je))\b|以前|从前|过去|曾经",
    _CASE,
)
"""Something that was true before."""
ENDED = re.compile(
    r"\b(?:no longer|not (?=[\w ]*any ?more)|n't (?=[\w ]*any ?more)|any ?more)\b|\bnicht mehr\b|\bkein\w* (?=\w+ mehr\b)|\bya no\b"
    r"|\bne (?=\w+ plus\b)|\bn'(?=\w+ plus\b)|不再|已经不|已经没有?|(?<=[我你他她们])不(?=\w+了[。.!！]?\s*$)",
    _CASE,
)
"""Something that was true and is not any more; it denies the statement."""
_TODAY = (
    r"\b(?:now|nowadays|these days|currently|as of (?:today|now)|at the moment|meanwhile)\b"
    r"|\b(?:jetzt|nun|inzwischen|mittlerweile|derzeit|aktuell|zurzeit|neuerdings)\b"
    r"|\b(?:ahora|actualmente|hoy en día)\b|\b(?:maintenant|désormais|actuellement)\b|现在|目前|如今"
)
TODAY = re.compile(_TODAY, _CASE)
"""An adverb of the present."""
NOW = re.compile(
    rf"{_TODAY}|(?<=[eyrs] )new(?= [\w ]+ (?:is|are)\b)|(?:(?<=^my )|(?<=^our )|(?<=^his )|(?<=^her )|(?<=^their ))new\b"
    r"|(?<=[ernsm] )neue[rsn]?(?= [\w ]+ (?:ist|sind|heißt)\b)"
    r"|(?<=[aioul] )nuev[oa](?= [\w ]+ (?:es|son)\b)|(?<=的)新",
    _CASE,
)
"""Something that is true of the present, in contrast to an earlier time: an adverb, or a new thing."""
ADDED = re.compile(
    r"\btoo(?=\s*[.!]?\s*$)|\b(?:also|as well|in addition|besides|auch|außerdem|zusätzlich|daneben|también|además|aussi|également|en plus)\b|[也还]",
    _CASE,
)
"""Something that is true beside other things."""
CORRECTED = re.compile(
    r"(?:\b(?:no|sorry|oops)\W+){0,3}\b(?:actually|in fact|correction|i was wrong|i made a mistake|by mistake|(?:i )?misspoke|i meant"
    r"|to correct|contrary to|that (?:was|is) (?:wrong|incorrect|a mistake)|that's (?:wrong|incorrect)|i got (?:that|it) wrong"
    r"|scratch that|let me correct (?:that|myself))\b"
    r"|(?:\bnein\W+)?\b(?:eigentlich|tatsächlich|korrektur|ich habe mich geirrt|ich meinte|das (?:war|ist) falsch|das stimmt nicht"
    r"|ich muss mich korrigieren)\b"
    r"|(?:\bno\W+)?\b(?:en realidad|corrección|me (?:he )?equivo(?:qué|cado)|quise decir"
    r"|(?:eso )?(?:era|es|fue) (?:incorrecto|falso|un error))\b"
    r"|(?:\bnon\W+)?\b(?:en fait|rectification|je me suis trompée?|c'(?:était|est) (?:faux|une erreur))\b"
    r"|其实|实际上|更正|我?(?:刚才|之前)?[说记搞弄]错了?|(?<![\u4e00-\u9fff])不对(?![\u4e00-\u9fff])",
    _CASE,
)
"""A correction of something said before."""
BROKEN = re.compile(
    r"\bnot only\b|\bnot just\b|\bno (?:wonder|problem|doubt)\b|\bnicht nur\b|\bno s[oó]lo\b|\bpas seulement\b"
    r"|不仅|不但|不只|不错|不同(?!意)|(?<![\u4e00-\u9fff])不过|只不过|不久|不管|不得不|没关系|没问题|没事|差不多|对不起|不好意思|是不是|有没有|要不",
    _CASE,
)
"""A negation that denies nothing."""
PASSIVE = re.compile(
    r"\b(?:was|were|is|are|been|being|be|got|gets)\b(?:\s+\w+)?\s+\w+(?:ed|en|t|n|ught|it|id|ut|nk|ung|uck)\b.*\bby\b"
    r"|\b(?:wurden?|wird|werden|worden)\b.*\b(?:von|durch)\b|\b(?:fue|fueron|es|son|sido)\b.*\w+[aáií]?[dt][oa]s? por\b"
    r"|\b(?:a été|ont été|est|fut|sont)\b.*\bpar\b|被",
    _CASE,
)
"""The passive voice with the person who acts."""
RECIPROCAL = re.compile(
    r"\b(?:me[et]ts?|met|marr(?:y|ied|ies)|talk\w*|sp(?:eak|oke)\w* with|dat(?:e[sd]?|ing)|friends?|agree[sd]?|equals?|resembl\w+"
    r"|siblings?|cousins?|colleagues?|neighbou?rs?|with|kiss\w*|married|similar|near|next to|between)\b"
    r"|\b(?:traf(?:en)?|trifft|getroffen|heirat\w*|verheiratet|mit|befreundet|neben|ähnel\w*|zwischen)\b"
    r"|\b(?:conoci\w+|cas[óa]\w*|casad[oa]|con|habl\w+ con|amig\w+|junto|entre)\b|\b(?:rencontr\w+|épous\w+|marié\w*|avec)\b"
    r"|见面|认识|结婚|和|跟|与|同",
    _CASE,
)
"""Relations that hold in both directions."""
LASTING = re.compile(
    r"\b(?:born|birth\w*|birthday|blood (?:type|group)|died|death|founded|invented|discovered|written by|mother tongue|native)\b"
    r"|\b(?:geboren|geburt\w*|blutgruppe|gestorben|gegründet|erfunden|muttersprache)\b"
    r"|\b(?:naci\w+|nacimiento|cumpleaños|grupo sanguíneo|murió|fundad[oa])\b|\b(?:né|née|naissance|groupe sanguin|mort|fondée?)\b"
    r"|出生|生于|生日|血型|去世|成立于|发明",
    _CASE,
)
"""Attributes that never change."""
CONVERSE = words_of("""
        start end begin finish open close buy sell borrow lend come go arriv leav enter exit give take send
        receiv teach learn push pull put remov arrive leave question answer export import rise set land start
        end beginn offn schliess kauf verkauf komm geh leih verleih nehm geb empiez termin comienz abr cierr
        compr vend va vien prest commenc fin ouvr ferm achet vend arriv part 开始 结束 买 卖 进 出 来 走 借 还 上班 下班
    """)
"""Stems of actions that one person can do and then reverse."""


LIGHT = words_of("""
        locat situat base get have make do take own posse work live be befind lieg encuentr trouv actual
        really total heisst nam nombr llam appel appell 名字 名 字 叫
    """)
"""Stems of words that add little to the others."""


PREPOSITIONS = {
    "en": words_of(
        "of in to for with on at by from about into through during before after above below under over between against"
        " without within inside outside near behind beside beyond among around towards toward off out up down via per than as"
        " since until far onto indoors outdoors"
    ),
    "de": words_of(
        "in im zu zum zur mit auf für von vom bei beim nach aus über unter vor hinter neben zwischen durch gegen ohne um"
        " seit bis an am als"
    ),
    "es": words_of("de del a al en con por para sin sobre entre hasta desde bajo tras ante contra hacia según como"),
    "fr": words_of("de d du des à au aux dans sur avec sans sous chez par pour entre vers depuis en comme"),
}
"""Words that give the next word its role."""
OPPOSED_ROLES = tuple(
    frozenset(pair.split("/"))
    for pair in words_of("""
        before/after into/out onto/off near/far inside/outdoors outside/indoors indoors/outdoors above/below over/under inside/outside with/without from/to into/from for/against on/off
        up/down in/from vor/nach über/unter mit/ohne für/gegen von/nach von/zu con/sin sobre/bajo de/a
        desde/hasta antes/después avec/sans sur/sous avant/après pour/contre 前/后 上/下 里/外 从/到
    """)
)
"""Roles that exclude each other."""
_PRONOUNS = {
    "i": "i me my mine myself i'm i've i'd i'll ich mich mir mein meine meinen meinem meiner meines yo mi mis me je j mon ma mes moi",
    "we": "we us our ours we're we've wir uns unser unsere unseren unserem unserer nosotros nosotras nos nuestro nuestra"
    " nuestros nuestras nous notre",
    "you": "you your yours you're you've du dich dir dein deine deinen deinem deiner tú tu tus usted toi ton ta tes vous votre vos",
    "he": "he him his he's er ihn ihm él lui",
    "she": "she her hers she's ella",
    "they": "they them their theirs they're they've ellos ellas ils elles leur leurs",
}
SUBJECTS = words_of("i he we they ich er wir du yo tú él je tu il ils")
"""Pronouns that are the subject."""
PRONOUNS = {word: f"@{name}" for name, words in _PRONOUNS.items() for word in words.split()}
"""The person that a pronoun means, by the word."""
_QUANTIFIERS = {
    "all": "all every everyone everybody everything each always both alle alles jeder jede jedes immer todo todos toda todas siempre"
    " cada tous toutes tout chaque toujours 所有人 所有 每个人 每 大家 全部 总是 都",
    "some": "some somebody someone something several few einige manche jemand irgendwer etwas alguien algunos algunas alguno algo"
    " quelqu'un quelques certains 有人 有些 一些",
    "many": "many most much viele meisten muchos muchas mayoría beaucoup plupart 很多 大多数 大部分",
    "none": "nobody no-one none nothing niemand keiner nichts nadie ninguno nada personne rien aucun 没有人 没人 谁都不 无人",
}
QUANTIFIERS = {word: name for name, words in _QUANTIFIERS.items() for word in words.split()}
"""All, some, many or none, by the word."""
