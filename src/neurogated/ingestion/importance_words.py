"""Words that tell small talk from facts, in English, German, French, Spanish and Chinese."""

from __future__ import annotations

import re

from neurogated.text.keywords import split_keywords
from neurogated.text.words import words_of

FIRST_PERSON = words_of(
    """i me my mine myself we us our ours im ive ich mich mir mein meine meinen meinem meiner wir uns unser unsere
    unseren je j moi mon ma mes nous notre nos yo mi mis conmigo soy
    estoy tengo vivo trabajo nosotros nosotras nuestro nuestra 我"""
)
SECOND_PERSON = words_of(
    """you your yours yourself du dich dir dein deine deinen deinem deiner euch euer eure tu te toi ton ta tes vous
    votre vos usted ustedes ti contigo tus 你 您"""
)
RULE = re.compile(
    r"\b(?:always|never|prefer|from now on|immer|niemals|nie|bevorzuge|ab jetzt|toujours|jamais|préfère|désormais"
    r"|siempre|nunca|prefiero|(?:your|deine|tes|tus) (?:answers|replies|antworten|réponses|respuestas))\b(?! mind\b)"
    r"|总是|永远|从不|以后都|一直|我更喜欢",
    re.IGNORECASE,
)
"""A lasting instruction or preference."""
COMMON = frozenset(
    split_keywords(
        """ok no nope yep hmm yo alright hm oh ooh aww phew yay ugh lol lmao omg brb sounds cool exactly news morning
        night mind kidding joke like love time good great day feel feeling life people friend family thing things way
        know think
        want need make making made get getting got go going come see look looking hear hearing say tell talk help
        helping hope enjoy fun nice new old happy sad important special really always never ever everyone everybody
        something anything nothing someone world moment moments experience journey hard tough difficult easy work
        working keep start stop try trying give take bring find share sharing support proud inspire inspiring inspired
        amazing awesome cool wonderful beautiful lovely incredible fantastic perfect best better excited exciting
        interesting sound sounds seem sure definitely totally absolutely agree true right yeah yes okay sorry thanks
        thank appreciate welcome care luck glad wish believe remember forget learn learning grow growing change
        changing future past dream dreams goal goals passion heart mind soul positive strong strength brave courage
        stay reminder memories memory matter mean means meaning worth reward rewarding difference community together
        connect understand place places idea ideas part bit lot lots little big huge much many kind kinds sort let
        going gonna wanna favorite favourite wait super wow haha hey hi hello bye back well also even still already
        yet maybe actually soon later today now long while around away live living person put ask question answer show
        happen happening plan planning check catch chat relax peace calm joy sense create creating creative beauty
        nature art pay chance opportunity opportunities challenge challenges push progress success achieve achievement
        cheer congrats congratulations guess bet imagine suppose reason able available use using problem solution
        option options step steps process consider ensure provide include specific example following additional detail
        details improve effective feature features approach helpful
        mdr ja nein okay prima ach morgen abend stimmt der die das und ist nicht ein eine mit auf für von dem den es ich
        du wir sie er war sehr auch noch schon dann wenn dass aber oder wie was wer hallo danke bitte gern gerne schön
        toll super gut besser freue freut liebe leben zeit tag freund freunde familie menschen welt immer wichtig
        glück viel mehr machen gehen kommen sagen finden wissen denken glauben hoffen wünschen helfen wirklich
        natürlich klar genau stimmt spaß erfahrung weg
        oui non bravo d'accord parfait ah le la les un une des
        et est pas que qui pour dans sur avec ce cette il elle nous
        vous je tu très bien merci bonjour salut beau belle super génial content contente heureux heureuse vie temps
        jour ami amis famille monde toujours important chance faire aller voir dire savoir penser croire espérer aider
        vraiment bien sûr plaisir
        sí no vale jaja claro perfecto el los las una y en que por para con no se su como más pero fue muy bien
        gracias hola bueno buena genial feliz contento contenta vida tiempo día amigo amigos familia mundo siempre
        importante suerte hacer ir ver decir saber pensar creer esperar ayudar verdad claro gusta encanta alegría
        好的 哈哈 谢谢 觉得 喜欢 开心 真的 非常 知道 朋友 时候 事情 生活 听起 起来 不错 太好 好了 恭喜 厉害 加油 可以
        一定 很好 最近 怎么 今天 希望 感觉 有意 意思 没问 问题 需要 如果 这样"""
    )
)
"""Keywords of small talk and of advice; other keywords are specific."""
