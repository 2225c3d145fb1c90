"""Causes without a model: a text that opens by pointing back, as with "Because of this", to the text before it.

Rules for causes that a sentence only names were within chance in recall and are gone; see
`docs/measurements/recall.md`. A language model finds such causes later, with what memories say.
"""

import re
from operator import itemgetter

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.judgements import CausalJudgement
from neurogated.core.ports import LanguageModel
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.sentences import split_sentences
from neurogated.text.strings import table_of

_TABLE = table_of(__package__, "causal_cues")
# The opening is one of this many first sentences, since the first may be only an interjection.
_OPENING = 2
_WORD = re.compile(r"\w")
_QUESTION = re.compile(r"""[?？]["'”’」』)\s]*\Z|(?:吗|呢)[。"”’」』\s]*\Z""")
_NEGATED = re.compile(
    r"\b(?:not|never|hardly|without|instead of|rather than|whether|as if)\b|n't|不是|并非|没有|可能|是否"
)
_DENIED = re.compile(r"\b(?:coincidence|unrelated|ruled out|nothing to do with)\b|无关|巧合|没有关系", re.IGNORECASE)
_LEADS = re.compile(
    r"""[\s"'“\u2018「『(*_\[—–-]*
    (?:(?:yes|no|well|true|right|exactly|indeed|oh|i\s+see)\b[\s,.!:;—–-]*["“]?
      |(?:对|是的|没错|不错)[，。！,]
      |[^.!?。！？,，;；:："“「]{1,40}(?:[:,]\s+["“]|[：，][“「])(?=\S)
    )?[\s…]*""",
    re.IGNORECASE | re.VERBOSE,
)
"""Quotation marks, interjections or a speaker before the first significant word."""


def _compiled(pattern: str) -> re.Pattern[str]:
    while (whole := re.sub(r"@([A-Z_]+)", lambda name: _TABLE["parts"][name[1]], pattern)) != pattern:
        pattern = whole
    return re.compile(pattern, re.IGNORECASE)


_OPENERS = [
    (_compiled(f"{one.get('before', '')}(?P<cue>{'|'.join(one['cue'].strip().splitlines())})"), one["strength"])
    for one in _TABLE["openers"]
]
"""Cues at the beginning of a text with the weight of their link, 0–1; the group `cue` is quoted in reasons."""


class OfflineCausalJudge:
    """Finds that a text opens with a connective that points back to its neighbour, in English and Chinese."""

    def judge(self, first: str, second: str) -> CausalJudgement:
        """Return whether the second text says that one of the two texts causes the other.

        Args:
            first: the earlier text of a document.
            second: the text directly after it.
        """
        plain = [" ".join(one.split()).replace("’", "'") for one in split_sentences(second)[:_OPENING]]
        starts = [(one, lead.end()) for one in plain if (lead := _LEADS.match(one)) and lead.end() < len(one)]
        if not starts or not _WORD.search(first):
            return CausalJudgement(is_causal=False, weight=0.0, reason="one of the texts is empty")
        sentence, start = starts[0]
        found = [(strength, pattern.match(sentence, start)) for pattern, strength in _OPENERS]
        cues = [(at, cue) for at, cue in found if cue and not _NEGATED.search(sentence, start, cue.start("cue"))]
        if not cues or _QUESTION.search(sentence) or _DENIED.search(sentence):
            return CausalJudgement(is_causal=False, weight=0.0, reason="no causal cue links the two texts")
        strength, cue = max(cues, key=itemgetter(0))
        return CausalJudgement(True, strength, f'the later text refers back with "{cue["cue"].strip()}"')


class LLMCausalJudge:
    """Asks a language model whether one of two texts causes the other."""

    def __init__(self, llm: LanguageModel, prompts: PromptTemplateManager, config: MemoryConfig) -> None:
        self._llm = llm
        self._prompts = prompts
        self._config = config

    def judge(self, first: str, second: str) -> CausalJudgement:
        """Return the model's judgement.

        Raises:
            LLMError: the model failed.
        """
        messages = self._prompts.render("causal_extraction", first=first, second=second)
        answer = self._llm.infer_json(messages, self._prompts.schema("causal_extraction"))
        weight = self._config.llm.strength(answer["strength"]) if answer["causal"] else 0.0
        return CausalJudgement(weight > 0, weight, str(answer["reason"]))
