"""The patterns for cues of questions.

The rules apply in order, and each match is hidden from the rules below. So a longer cue such as "what did it lead to"
comes before the shorter "led to". A rule under "hide" hides words that only look like a cue, such as "next door".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neurogated.text.calendar_words import MONTHS, WEEKDAYS, any_of
from neurogated.text.language import Language

# Parts of patterns. A pattern inserts a part by its name after an @.
PARTS = {
    "AUX": r"(?:do|does|did|will|would|can|could|may|might|must|should|shall|has|have|had|is|are|was|were|am)(?:n't)?",
    "MODAL": r"(?:will|would|can|could|may|might|must|should|has|have|had|is|are|was|were|did|does|do)",
    "ADVERB": r"(?:\w+ly|ever|first|in the end|perhaps|else|then|so|always|often|been|be|have|helped)",
    "ASKS": r"(?:what|which|who|whom|whose|where|how)",
    "OPENING": r"^(?:(?:and|so|but|then|well|ok|okay|oh|hey|please|now|also|exactly)\W+)*",
    "UNIT": r"(?:second|minute|hour|day|night|week|weekend|month|season|term|year|decade|centur(?:ie|y)|generation)s?",
    "WEEKDAY": rf"(?:{any_of(WEEKDAYS['en'])})",
    "PART_OF_YEAR": rf"(?:spring|summer|autumn|fall|winter|morning|afternoon|evening|night|noon|midnight|"
    rf"{any_of(MONTHS['en'])})",
    # "Can you tell me why" asks why, not whether.
    "WRAPPED": r"(?! (?:you|we|anyone|anybody|i) (?:\w+ ){0,2}?"
    r"(?:tell|know|remember|recall|explain|say|remind|describe|ask|think))",
    "CAUSED": r"(?:caus(?:ed|es|ing)|led (?:up )?to|leads (?:up )?to|leading to|result(?:ed|s|ing) in|"
    r"(?:brought|brings|bringing) (?:about|on|down)|g(?:ave|ives) rise to|contribut(?:ed|es|ing) to|"
    r"trigger(?:ed|s|ing)|spark(?:ed|s)|provok(?:ed|es)|set off|account(?:ed|s)? for|explain(?:ed|s)?)",
    "MOVED": r"(?:ma(?:de|kes)|got|gets|led|leads|dr(?:ove|ives|iven)|push(?:ed|es)|prompt(?:ed|s)|persuad(?:ed|es)|"
    r"convinc(?:ed|es)|inspir(?:ed|es)|motivat(?:ed|es)|compel(?:led|s)|forc(?:ed|es)|possess(?:ed|es)|mov(?:ed|es)|"
    r"induc(?:ed|es)|tempt(?:ed|s)|spur(?:red|s)|encourag(?:ed|es)|ke(?:pt|eps)|stop(?:ped|s)|prevent(?:ed|s)|"
    r"turn(?:ed|s)|puts?|brought|justif(?:ied|ies)|attract(?:ed|s)|dr(?:ew|aws)|discourag(?:ed|es)|deter(?:red|s)|"
    r"bother(?:ed|s)|ail(?:ed|s)|anger(?:ed|s)|upset|frighten(?:ed|s)|scar(?:ed|es)|caused|allowed|enabled|held|"
    r"necessitated|warranted|lur(?:ed|es)|g(?:ave|ives)|(?:bother|ail|upsett|driv|mak|caus|keep|stopp|push|hold|troubl|worry|turn|"
    r"hinder)ing)",
    "CAUSE": r"(?:cause|lead to|result in|bring (?:about|on)|give rise to|trigger|spark|set off|provoke|explain|"
    r"make)",
    "EFFECT": r"(?:cause|lead to|led to|result in|bring (?:about|on)|give rise to|trigger|spark|set off|provoke|"
    r"produce|set in motion|entail|unleash|achieve|accomplish|caused|brought about|make possible|set going)",
}

# A heading (=) names the kind of the patterns under it and whether their cues are strong or weak. The patterns under
# "hide" hide words. A line that ends with | continues in the next line.
_ENGLISH = r"""
= hide
^why don't (?:we|we all|you (?:come|try|ask|go|call|join|sit|stay|let|give|tell|show|bring|just|rest|visit))\b
\bwhat\b.{0,80}\b(?:look|sound|taste|smell|feel)s? like(?=\W*$| (?:before|after|when|in|from|at|on|to|during|
inside)\b)
\bwhat(?:'s| is| was| are| were)\b.{0,80}\blike(?=\W*$| (?:for|before|after|when|in|at|during|to)\b)
\bnext[- ]door
\b(?:stands?|known|famous|look|looking|ask|asking|wait|waiting|pay|call|vote|search|used|do|good|responsible|
live) for\W*$
= like strong
\b(?:any|some|no|every)(?:thing|one|body|where)(?: else)? like\b
\bwhat (?:\w+ ){0,3}(?:look|sound|taste|smell|feel)s? like (?:an?|the|this|that|these|those|my|his|her)\b
\b(?:who|which|whose)\b.{1,80}\b(?:look|sound|taste|smell|feel|read)s? like\b
= hide
\b(?:would|'d|to|really|also|don't|didn't|doesn't|not) like\b
\b(?:do|does|did)(?:n't)? (?:\w+(?:'s)? ){1,3}?like\b(?! (?:that|this|it)\W*$)
= when strong
\bwhen @AUX\b.{0,40}?\b(?:next|last|first)\b|\bwhen(?:'s| exactly| precisely| roughly| else)?(?: @AUX\b|\W*$)
\b(?:know|tell (?:me|us)|remember|recall|say|said|wonder|find out|sure|idea|forgot|remind me|guess) (?:exactly |
roughly )?when\b
\b(?:what|which|whose)(?: \w+(?:'s)?)? (?:time|year|date|weekday|month|hour|century|decade|reign|era|epoch)s?\b
\b(?:what|which) (?:day|week|season|period|age|quarter|moment|afternoon|morning|evening|night)s?\b
\b(?:at|by|until|up to|during|over) (?:what|which|whose) (?:point|stage|age|period|phase)\b
\bhow (?:quickly|soon|early|late|recently|recent|far back|long ago|far ahead|far in advance)\b
\bhow long\b(?! (?:is|are|was|were) (?:the|an?|this|that|my|your|his|her|its|our|their) \w+\W*$)
\bhow many (?:more |full |whole )?@UNIT\b|\bhow much (?:time|longer|earlier|later|sooner)\b
\b(?:before or after|after or before|earlier or later|sooner or later|earlier than|chronolog\w+|timeline)\b
\b(?:in (?:what|which)|in the right|the) order (?:did|do|were|was|are|in which|of)\b
\b(?:came|come|comes|is|was|were|happened|built|arrived|finished|started|founded|did) (?:\w+ )?(?:first|earlier)\b
\b(?:deadline|due date|birthday|birth date|date of|anniversary|opening hours|expiry)\b
\b@WEEKDAY\b.{0,30}\bor\b|\bthis \w+ or (?:the )?(?:next|last)\b
@OPENINGwhat\b.*\bbefore\b|\b(?:which|who)\b.*\b(?:first|earlier|sooner)\W*$
\b@PART_OF_YEAR\b.{0,30}\bor\b.{0,20}\b@PART_OF_YEAR\b
\bwhat(?:'s| is| was| were)(?: the)?(?: exact)? (?:year|date|day|hour|month|time)\b
@OPENING(?:was|were|did|had|has|have|is|does)\b.*\b(?:before|after|earlier|later|already|yet)\b
= why strong
\b(?:because of|due to|owing to|thanks to|on account of|(?:as a|in) (?:result|consequence) of|following) (?:what|
which|whose)\b
\bcauses? (?:of|for|behind|that)\b|\b(?:root|main|real|true|likely|possible|underlying|the|any) causes?\b
\b(?:hoping|trying|aiming|intending|wanting|meant) to (?:achieve|gain|prove|do|accomplish)\b
= consequence strong
\bwhat difference\b
\bwhat(?: else| \w+| \w+ of \w+)? @MODAL(?:n't)? (?!@ADVERB\b)(?:[\w'-]+ ){1,12}?(?<!the )(?<!a )@EFFECT\b
\bwhat (?:(?:\w+ ){0,2})?(?:resulted|results|stemm?ed|stems|arose|arises|grew|came|comes|come|followed|
follows) (?:out )?(?:of|from)\b(?! (?:what|which))
= why strong
\bwhy\b|\bhow come\b|\bhow (?:is|was|'s|does|did) it (?:come about |happen |come to be )?that\b
\bhow do (?:you|we|they) (?:explain|account for)\b
\breasons?\b|\brationale\b|\bmotiv(?:es?|ation)\b|\bwhat(?:ever)? for\b|\bgrounds\b|\bexplanations?\b|\bexcuse\b
\bwhat(?:'s| @MODAL(?:n't)?)(?: @ADVERB)* (?:@CAUSE|@CAUSED)\b
\b(?:what|which)(?: of the \w+| (?!@AUX\b)\w+){0,2}?(?: @ADVERB)* @CAUSED\b
\bwhat(?:'s)?(?: (?:was|is) it that)?(?: @MODAL| @ADVERB)* @MOVED\b|\bwhat (?:has|have|had) been \w+ing\b
\bto blame\b|\bwhat(?:'s| is| was| lay| lies)? (?:really )?behind\b|\bthinking behind\b|\broot of\b
\bpurpose of\b|\b(?:is|was|'s) the point (?:of|in)\b|\bto what\b.*\b(?:attribute|owe|ascribe|put down)\b|\b(?:mad|
angry|upset|worried|annoyed|cross|nervous|excited|sad|scared|afraid|furious|proud|ashamed|happy) .{0,30}\b(?:about|
over|of)\b|\bwhat (?:is|was) it (?:about|in)\b|\bhow (?:was|is) it possible\b
\bwhat\b.{1,60} for\W*$
\b(?:lay|lies|lie|stood|stands) (?:\w+ )?(?:behind|underneath|beneath|at the (?:root|bottom|heart))\b
\bhow could (?!i\b|we\b|you\b)|\bhow\b.{1,80}\bc[oa]mes? to (?!an?\b)\w+|\bby what (?:chain|accident|mistake)\b
= consequence strong
\bconsequen(?:ces?|tly)\b|\brepercussions?\b|\baftermath\b|\bimplications?\b|\bfallout\b
\boutcomes?\b|\bresults?\b|\bside[- ]effects?\b|\beffects?\b|\bimpact(?:s|ed)?\b
\bhow\b.{0,80}?\b(?:affect|influence|alter|transform|reshape)(?:s|ed|d)?\b|\baffected\b
\bwhat (?:\w+ )?(?:happen(?:s|ed)?|would|will)(?: \w+){0,4}? (?:if|when|whenever|because|should|without|unless)\b
^if\b.+\b(?:what|how)\b
\b(?:became|becomes?|come|comes|came) of\b|\bend(?:s|ed)? up\b
\b(?:turn|work|pan|play)(?:s|ed)? out\b|\bmean(?:t|s)? for\b|\bwhat good\b
\bwhat (?:all )?(?:was|were|got|has been) (?:lost|destroyed|damaged|gained|ruined|wrecked|achieved)\b|\b(?:how|
in what ways?)\b.{0,80}\b(?:help|hurt|improve|worsen|weaken|strengthen|benefit|harm|damage|change)(?:s|d|ed)?\b
\bwhere\b.{1,60}?(?:\w(?:tion|sion|ment|ure|cy|ism|ing)|lawsuit|war|strike|crisis|disaster|flood|fire|drought|quarrel|
dispute|defeat|loss|death|divorce|storm|sale|merger|collapse|scandal|verdict|deal|crash|reform|
accident)\b.{0,40}\bleave\b
\bwhat (?:has |had |have )?changed\b|\b(?:in|to) what (?:state|condition)\b.*\bleave\b
\bhow did .{1,80}\bend\b(?! up)
= like strong
\b(?:dis)?similar(?:ly|ity|ities)?\b|\bresembl\w+\b|\bcompar(?:e[sd]?|ing|able|isons?)\b|\banalog\w+\b
\bakin\b|\balike\b|\blike(?:n|ned|ness)?\b|\bremind(?:s|ed)?\b.{1,60}\bof\b
\bcounterparts?\b|\bequivalents?\b|\bparallels?\b|\bin common\b|\bmetaphors?\b
\b(?:the|that|this|very) same\b.{0,40}?\bas\b|\bsame (?:kind|sort|type|way|manner|thing|principle|fate|pattern)\b
\bdiffer(?:s|ed)?\b|\bdifferences? between\b|\bdistinguish\w*\b|\b(?:much|nearly) the same\b
\becho(?:es|ed)?\b|\bmirror(?:s|ed)? (?!in|on)\w+|\bclosest (?:thing|to|in|relative|match)\b|\bnearest thing\b
\b(?:on|of|in|by|like) (?:that|this|the same|a similar) (?:very )?(?:principle|kind|sort|type|fashion|manner|way|
lines?)\b
\bin the (?:manner|style|spirit) of\b|\bin the same (?:spirit|vein)\b|\bnearest in\b
\bthe way .{1,30} (?:do|does|did|is|are|was|were)\W*$|\bas (?:the |an? )?[\w ]{1,30} (?:is|was|does|did|do|were|
are)\b(?=\W*$|,)
\b(?:modern|local|own|later|earlier|\w+an|\w+ese|\w+ish|\w+'s) (?:version|answer|take) (?:of|to|on)\b|
\bshare[sd]? .{1,40}\b(?:way|view|taste|trait|fate)\b
\banother (?:example|instance|case|one) of\b|\bjust as \w+\b|\bdo .{1,40} share\W*$|\bas (?!long|soon|far|well|many|
much|possible)\w+ as\b|\btell apart\b|\b(?:confused|mixed up) with\b|\bin place of\b
\b(?:close )?match for\b|\bmistaken for\b|\bpass for\b
= next strong
\bnext\b|\bafterwards?\b|\bsubsequent(?:ly)?\b|\bsequel\b
@OPENING(?:what|where|how (?:do|does|did|should))\b.*\bafter\b|\b(?:right|straight|directly|immediately|just|
soon) after\b|\b(?:comes?|came) (?:\w+ly |right |just |on )?after\b
@OPENING(?:(?:right|straight|just|soon|immediately|shortly|directly) )?after\b.*\b(?:what|where|who|which)\b
\b(?:what|which|who)\b(?: \w+){0,2}? follow(?:s|ed)?\b(?! from)|\b(?:the|do|did|happen\w*|step|stage|day) following\b
\bthen\W*$|\bthen (?:what|where|who|how)\b|\bwhat then\b|\bdo then\b|\bhappen(?:s|ed)? (?:then|now)\b|\bwhat now\b
\b(?:once|as soon as)\b.+,\s*@ASKS\b|\b@ASKS\b.+\b(?:do|go|turn|try|say)\b.*\b(?:once|as soon as|upon)\b
\bfrom (?:there|here|that point|then)\b|\b(?:proceed|carr(?:y|ies|ied) on|continu|go on|goes on|went on|moved? on|
(?:move|moves|go|goes) (?:forward|ahead))\w*
\bwhat\b.*\blater\b|\b(?:be|is|was|are|were) done with\b|\bset about\b
= fact strong
\bhow (?:does|do) .{1,60} work\W*$|@OPENING(?:who|whom|whose|where)\b|\b(?:to|with|for|from|by) whom\b
\bhow (?:many|much|tall|big|high|large|far|deep|heavy|wide|thick|old|small|hot|cold|fast|strong)\b
\bwhat(?:'s| is| was| are)? (?:the )?(?:name|colou?r|kind|type|sort|size|brand|breed|title|address|capital|number|
password|nationality|language|material|currency|weight|height|population)\b|\bcalled\b
@OPENING(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)(?:n't)?@WRAPPED \w+
= why weak
\b(?:because|due to|owing to|behind|basis|excuse|culprit|fault|responsible|sparked|root|origins?|factors?)\b
\b(?:hoping|trying|wanted|aiming) to\b
\bexplain(?:s|ed)?\b|\baccount for\b
\bwhat (?:had |has )?(?:gave|brought|turned|set|lay|stood|killed|broke|ruined|hurt|troubled|cost|doomed|ended|tipped|
spoil(?:ed|t)|saved|delayed|sent)\b
\b(?:what|which) (?!@AUX\b)\w+ (?:cost|doomed|killed|ruined|sent|saved|made|drove|kept)\b|\b(?:find|found) (?:its|his|
her|their) way\b
= consequence weak
\b(?:changes?|changed|leave|cost|loss(?:es)?|suffer\w*|damage[ds]?|harm(?:ed)?|hurt|benefit(?:s|ed)?|gain(?:ed|s)?)\b
\bdo(?:ne|es)? (?:to|for) (?!a living)|\bhappen(?:s|ed)? to\b|\b(?:now that|thanks to|because of|good come)\b|
\bmark\b|\bwhat (?:harm|damage|toll|price|penalty|punishment|reward|trouble|losses|benefits?)\b
\b(?:influence|shape|end|reveal|come to light|force|react\w*|reaction|response|yield|create|in what way)\b
= when weak
\b@UNIT\b|\b(?:dates?|times?|age|reign|era|since|until|ago|before|schedule[ds]?|expires?|o'clock)\b
\bhow (?:often|frequently|fast|long|old)\b|\b(?:earlier|later|latest|oldest|older)\b|\b(?:spring|summer|winter)\b
= next weak
\bdo(?: with (?:it|them|him|her|that))?\W*$|\bdo (?:with|when|the (?:minute|moment|instant))\b|\bat (?:that|
this) (?:point|stage)\b|\btask\b
\b(?:step|stage|phase|following|after|later|once|having|with the|as soon as|upon|on leaving|now|remains|follow|then)\b
^when\b.+,\s*@ASKS\b|^(?:with|having)\b.+,\s*@ASKS\b|^(?:on|out of|from)\b.+,\s*@ASKS\b
= like weak
\b(?:same|other|another|else|twin|match|close(?:st)?|nearest|kindred|principle|picture of|think of|than|version|
both)\b
\bthe way\b|\bshares?\b|\bspirit\b
= fact weak
\b(?:name|list|describe|which|located|own(?:s|ed)?|made of|wear|wore|colou?r|bought|buy|eat|written|kept|stored)\b
"""

CHINESE = r"""
= hide
(?:头|頭|图|圖|画|畫|录|錄|雕|肖|偶|摄|攝|想|影|佛|石|铜|銅|塑|石膏|群)像|(?<!什么)(?<!什麼)(?<!啥)(?:的时候|的時候)
= why strong
为什么|為什麼|为何|为啥|何以|怎么会|凭什么|干嘛
(?:什么|什麼|哪些|何种)(?:原因|缘故|缘由|理由|因素)(?:.{0,6}(?:导致|造成|引起|引发|促使))?|原因|缘故|起因|理由|动机
(?:由于|因为|因為|出于|由於|图)(?:的是)?(?:什么|什麼|啥|何)|怎么回事|(?:问题|毛病)出在
(?:是|被|由|因)?(?:什么|什麼|啥|谁)(?:事|事情|东西|因素|力量)?.{0,3}?(?:导致|造成|引起|引发|促使|促成|驱使|使得|导致|導致|迫使|致使|使|让|讓|把|令|逼)(?:了)?
(?:促使|导致|造成|引起|引发|推动|驱使|決定|左右).{1,20}的(?:是|究竟是|到底是)(?:什么|什麼|啥|谁)
怎么.{1,14}(?:就|又|都).{0,8}了|^怎么(?!样|办|做|才|用|去|走|写|读|继续).{2,14}了\W*$|怎么(?=没|不|就|这么|那么|突然|又|都|老|总|忽然)|隐情
= consequence strong
(?:导致|導致|造成|引起|引发|引發|带来|帶來|产生|產生|留下|招致|引出|触发|惹出|酿成)(?:了|过)?.{0,4}(?:怎样|什么|什麼|哪些|何种|怎么样|多大|多少|多严重)(?:的)?(?:后果|結果|结果|影响|
影響|变化|變化|损失|麻烦)?
后果|结果|影响|影響|结局|下场|代价|意味着什么|好处
会怎么样|会怎样|怎么样了|怎样了|成了?(?:什么|怎么|怎|啥)样|会发生什么|变成了?(?:什么|怎样|啥)|落得|落到
(?:有|发生|起)了?(?:什么|怎样的|哪些|何)(?:改变|变化|变动|起色|好转)
= when strong
什么时候|什麼時候|啥时候|啥时|何时|几点|多久|多长时间
哪一?(?:年|天|日|月|周|晚|季)|哪一?个(?:月|世纪|年代|季节|季度|朝代|时期|星期|时代|阶段|时候)
几(?:月|号|岁|年|分钟|小时|个月|天|个星期|周|个小时)|星期几|多少(?:年|天|个月|分钟|小时|周|个小时|岁)
先后|之前还是之后|(?:谁|哪一?[个场座次件位])(?:事|人)?(?:最)?(?:先|早)|[春夏秋冬].{0,8}(?:还是|還是).{0,4}[春夏秋冬]
(?:时间|日期|年份|期限|年代|时期|時期|早于|晚于|多早|更早|较早|多晚|最快|最早|最晚|截止|生日|纪念日)|(?:周|星期)[一二三四五六日天].{0,6}(?:还是|還是)
= next strong
接下来|接着|然后|然後|随后|下一步|紧接|往下|下一
(?:之后|之後|以后|以後|过后|后来|後來|完后|后|後).{0,10}?(?:发生|發生|做|去|搬|点|由谁|干|怎么|又|再|呢|是什么|会|要)
[，,].{0,12}(?:做|干|去|走|送|放)(?:了|些|到|往)*(?:什么|什麼|哪里|哪儿|啥|何处)|怎么处理|往哪.{0,3}[送走去]
怎么继续
= like strong
类似|類似|相似|好比|相仿|比作|相比|区别|有何不同
一样|相同|共同|相当于|联想|想起|相近|差不多|比较起来|如出一辙|不谋而合
像|接近|冒充|模子|代替|这种遭遇|那样的|这样的|打比方
= fact strong
谁|誰|哪里|哪儿|叫什么|多少|[几幾](?:个|個|只|本|次|位|座|条|张|件|口|辆|人|层|家|名)|^(?!.{0,3}(?:知道|记得|記得|告诉|告訴|说说|清楚|晓得)).*(?:吗|嗎)\W*$
什么(?:颜色|名字|地方|牌子|材料|木头|语言|货币|尺寸|型号|口味|配料)|多(?:高|大|重|深|宽|厚|远)|有没有|哪(?:种|座|家|支|位|本)
= why weak
怎么|究竟
= consequence weak
如何|怎样|变|如果|让|使|令|反应|最后|得到|付出
= when weak
年|日|天|期|之前|以前|晚
= next weak
以后|后|完了?[，,]|了[，,]|一.{1,4}[，,]|再|又
= like weak
比较|比較|比|也|跟|和|同|这种|别的|还有
= fact weak
哪|什么|什麼|几|名字|在
"""

_GERMAN = r"""
= why strong
\bwarum\b|\bwieso\b|\bweshalb\b|\bwodurch\b
\b(?:grund|gründe|ursachen?|auslöser|anlass|motiv) (?:für|dafür|hatte|war|waren|von|hinter|gab|der|des|dass)\b
= consequence strong
\bfolgen?\b(?! (?:auf|nach)\b)|\bauswirkung(?:en)?\b
\bwas (?:passiert|geschieht|wäre|würde|wird|passierte|geschah)\b.{0,60}\b(?:wenn|falls|dadurch|deswegen)\b|
\bwas wurde aus\b
\bwie (?:hat|haben|wirkte?) .{0,80}(?:verändert|beeinflusst|ausgewirkt|aus)\b
= when strong
\bwann\b|\bum wie ?viel uhr\b|\bwie lange\b|\b(?:in|seit|bis|an|zu) welche[mrns]? (?:jahr|monat|tag|woche|zeit|datum|
jahrhundert|uhrzeit|saison)\w*\b
= next strong
\bals nächstes\b|\bnächste[rsn]? schritt\b|\bwie (?:ging|geht) es .{0,40}weiter\b
\bwas (?:kam|kommt|folgte|folgt|geschah|passierte|tat|machte)\b.{0,60}\bnach(?:dem)?\b
= like strong
\bähnlich\w*|\bgleicht?\b|\bvergleich\w*|\bgemeinsam\w*|\bunterscheide\w*
= fact strong
^\W*(?:wer|wen|wem|wessen|wo|wohin|woher)\b|\bwie ?viele?\b|\bwie (?:heißt|hieß|heißen|groß|hoch|schwer|alt|weit|tief|
breit|teuer)\b
^\W*(?:ist|sind|war|waren|hat|haben|hatte|kann|gibt|wohnt|mag) \w+
= fact weak
\bwelche[mnrs]?\b|\bwas\b|\bwomit\b
"""
_FRENCH = r"""
= why strong
\bpourquoi\b|\bpour quelles? raisons?\b|\bcomment se fait-il\b
\b(?:raisons?|causes?|motifs?|motivations?|origine)\b (?:de|du|des|d'|pour|qui|a|est|était|derrière)
\bqu'est-ce qui (?:a |ont )?(?:\w+ ){0,2}?(?:causé|provoqué|poussé|amené|entraîné|déclenché|motivé|incité|fait|
explique|empêche)\w*
= consequence strong
\bconséquences?\b|\brésultats?\b|\beffets?\b|\bque se passe(?:ra)?(?:-t-il)? si\b
\bqu'est(?:-ce qu)?.{0,10}\b(?:devenue?s?|advenu)\b
= when strong
\bquand\b|\bà quelle (?:heure|date|époque|période|saison)\b|\bdepuis (?:quand|combien de temps)\b|
\bcombien de (?:temps|jours|semaines|mois|ans|années|heures|minutes)\b|\b(?:en|de) quelle année\b
= next strong
\bensuite\b|\bpar la suite\b|\bprochaine étape\b|\bqu(?:'est-ce que|'a|e|oi)\b.{0,80}\baprès\b
= like strong
\bsimilaires?\b|\bressembl\w+|\bcompar\w+|\ben commun\b|\bdiffère-t-
= fact strong
^\W*(?:qui|où|à qui|de qui|avec qui|d'où|par où)\b|\bcombien\b|\bcomment s'appell\w+|^\W*est-ce que?\b
= fact weak
\bquel(?:le)?s?\b|\bqu'est-ce\b|\bquoi\b
"""
_SPANISH = r"""
= why strong
\bpor qué\b|\ba qué se deb(?:e|ió|ía)\b
\b(?:razón|razones|causas?|motivos?)\b (?:de|del|por|para|que|tuvo|tenía|detrás|hubo|hay)|\bqué (?:ha |
había )?(?:provocó|provocado|causó|causado|originó|llevó|llevado|hizo que|motivó|impulsó|desencadenó|explica|impidió|
empujó)\b
= consequence strong
\bconsecuencias?\b|\befectos?\b|\bqué (?:pasa|pasará|pasaría|sucede|sucederá|ocurre|ocurrirá|ocurriría) (?:\w+ )?si\b
\bcómo (?:\w+ )?(?:afectó|afecta|influyó|cambió|transformó)\b
= when strong
\bcuándo\b|\ba qué hora\b|\bdesde cuándo\b|\bcuánto tiempo\b
\b(?:en|de) qué (?:año|mes|fecha|época|siglo|día|momento|estación|temporada|semana)\b
= next strong
\ba continuación\b|\by (?:luego|después)\b|\bsiguiente paso\b|\bqué\b.{1,60}\b(?:después|luego)\b
\bqué (?:sigue|siguió|vino|viene)\b
= like strong
\bsimilar(?:es)?\b|\bse parecen?\b|\bcompar\w+|\ben común\b|\bse diferencian?\b
= fact strong
^\W*(?:(?:a|de|con|para) )?(?:quién|quiénes|dónde|adónde)\b|\bcuánt[oa]s?\b|\bcómo se llama\w*|^\W*(?:es|está|son|fue|
hay|tiene|puede|vive) \w+
= fact weak
\bcuál(?:es)?\b|\bqué\b
"""
LATIN: Mapping[Language, str] = {"en": _ENGLISH, "de": _GERMAN, "fr": _FRENCH, "es": _SPANISH}
"""The rules of the languages in Latin script."""

ASKING: Mapping[Language, str] = {
    "de": (
        r"\b(?:was|wer|wen|wem|wessen|wo|wohin|woher|wie|wann|warum|wieso|weshalb|welche[mnrs]?|wozu|woran|womit|worüber)\b|"
        r"\bwodurch\b|^\W*(?:sag|sagt|erzähl|erkläre?|nenne?|zeige?|erinnere?|beschreibe?)\b"
    ),
    "fr": (
        r"\b(?:qui|que|quoi|quand|où|pourquoi|comment|combien|quel(?:le)?s?|est-ce)\b|\bqu'est|"
        r"^\W*(?:dis|dites|raconte|explique|expliquez|nomme|montre|rappelle|décris)\b"
    ),
    "es": (
        r"\b(?:qué|quién(?:es)?|cuándo|dónde|adónde|cómo|cuál(?:es)?|cuánt[oa]s?)\b|"
        r"^\W*(?:di|dime|cuéntame|explica|nombra|muestra|recuérdame|describe)\b"
    ),
}
"""Matches a text that asks or requests something."""

HEADS: Mapping[Language, Sequence[str]] = {
    "en": (
        r"(?:who|whom|whose)\b", r"where\b", r"which\b", r"what\b", r"how (?:many|much)\b", r"how\b", r"when\b",
        r"why\b", r"@AUX\b@WRAPPED", r"(?:in|on|at|by|for|to|of|over|during|since|until) (?:what|which|whose)\b",
        r"(?:after|once|as|having|with|if|on|from)\b",
    ),
    "de": (
        r"^\W*(?:wer|wen|wem|wessen)\b", r"^\W*(?:wo|wohin|woher)\b", r"^\W*welche", r"^\W*was\b", r"^\W*wie ?viele?\b",
        r"^\W*wie\b", r"^\W*wann\b", r"^\W*(?:warum|wieso|weshalb)\b",
    ),
    "fr": (
        r"^\W*(?:à |de |avec )?qui\b", r"^\W*où\b", r"^\W*(?:quel|lequel)", r"^\W*(?:que\b|qu'|quoi\b)",
        r"^\W*combien\b", r"^\W*comment\b", r"^\W*quand\b", r"^\W*pourquoi\b",
    ),
    "es": (
        r"^\W*(?:a |de |con )?quién", r"^\W*(?:de |a )?dónde\b", r"^\W*cuál", r"^\W*qué\b", r"^\W*cuánt[oa]s?\b",
        r"^\W*cómo\b", r"^\W*cuándo\b", r"^\W*por qué\b",
    ),
}  # fmt: skip
"""Openings of questions, in one order for all languages; before an English one, fillers such as "and so" may stand."""
