"""A Chinese memory from end to end: names, keywords, edges, times, and questions of two hops."""

from collections.abc import Iterator

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory

PASSAGES = {
    "苏州园林": "苏州园林以假山和池塘闻名，拙政园是其中最大的一座。",
    "拙政园": "拙政园由御史王献臣建造，园中有见山楼和远香堂。",
    "王献臣": "王献臣是吴县人，罢官后回乡隐居，请文徵明画了三十一幅图。",
    "文徵明": "文徵明擅长山水画，与唐寅并称才子。",
    "大运河": "大运河连接北京和杭州，过去用来运粮食。",
    "杭州": "杭州有西湖，出产龙井茶。",
    "龙井茶": "龙井茶要在锅里炒，炒茶的师傅用手翻动茶叶。",
    "敦煌": "敦煌的莫高窟保存着许多壁画。",
    "莫高窟": "莫高窟又叫千佛洞，藏经洞在一九〇〇年六月被王道士发现。",
    "藏经洞": "藏经洞里的写本后来流散到许多国家。",
    "候鸟（动物）": "候鸟随季节迁徙，因为北方冬季没有食物。",  # noqa: RUF001
    "读书笔记": "我读完了《候鸟》一章，又去看了湖边的鹭。",
}
BY_KEYWORD = {
    "远香堂在哪座园子里？": "拙政园",
    "谁请人画了三十一幅图？": "王献臣",
    "与唐寅并称的画家是谁？": "文徵明",
    "哪条河用来运粮食？": "大运河",
    "西湖在哪里？": "杭州",
    "师傅怎么炒茶？": "龙井茶",
    "千佛洞是什么？": "莫高窟",
    "写本流散到哪里了？": "藏经洞",
    "候鸟为什么迁徙？": "候鸟（动物）",  # noqa: RUF001
    "谁去看了湖边的鹭？": "读书笔记",
}
# The answer is in a passage that only the first passage names.
TWO_STEPS = {
    "出产龙井茶的城市有什么湖？": "杭州",
    "苏州园林中最大的一座由谁建造？": "拙政园",
    "建造拙政园的御史请谁画了图？": "王献臣",
    "敦煌保存壁画的地方又叫什么？": "莫高窟",
}
EMBEDDERS = ["hash", pytest.param("all-MiniLM-L6-v2", marks=pytest.mark.nightly)]


@pytest.fixture(scope="module", params=EMBEDDERS)
def chinese(request: pytest.FixtureRequest) -> Iterator[NeuroGraphMemory]:
    config = MemoryConfig(storage="memory", embedding_name=request.param)
    with NeuroGraphMemory(config) as memory:
        documents = [{"text": text, "title": title} for title, text in PASSAGES.items()]
        memory.add_documents(documents, progress=False)
        yield memory


def titles(memory: NeuroGraphMemory, question: str, top_n: int) -> list[str]:
    return [str(one.node.title) for one in memory.recall(question, top_n=top_n)]


@pytest.mark.parametrize(("question", "title"), BY_KEYWORD.items(), ids=list(BY_KEYWORD.values()))
def test_a_question_finds_the_passage_that_holds_its_words(
    chinese: NeuroGraphMemory, question: str, title: str
) -> None:
    # The bundled model knows only English, so its cosines may rank another passage first.
    knows_no_chinese = chinese.config.embedding_name != "hash"
    assert title in titles(chinese, question, 6 if knows_no_chinese else 1)


@pytest.mark.parametrize(("question", "title"), TWO_STEPS.items(), ids=list(TWO_STEPS.values()))
def test_a_question_of_two_steps_finds_the_second_passage_among_the_first_three(
    chinese: NeuroGraphMemory, question: str, title: str
) -> None:
    assert title in titles(chinese, question, 3)
