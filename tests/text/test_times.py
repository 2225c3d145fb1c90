"""Time words, tested on sentences of our own with the words that the parser should find."""

import pytest

from neurogated.text.times import find_times

# Every sentence and its time words, in any segmentation; none if the sentence names no time.
ENGLISH = {
    "We met yesterday at the pier.": True,
    "The wedding was on 8 May 2023.": True,
    "She was born in 1984 near Turin.": True,
    "The office opens at 9:30 am.": True,
    "Call me around 5pm.": True,
    "He moved out two weeks ago.": True,
    "Last summer the lake was low.": True,
    "I will paint the fence next Saturday.": True,
    "They have lived there for ten years.": True,
    "The train leaves on Monday.": True,
    "In March the storks return.": True,
    "The lease ends on 2026-04-30.": True,
    "It was signed on 12/05/1999.": True,
    "The band was big in the 1970s.": True,
    "She called this morning.": True,
    "The day before, he had packed.": True,
    "We visit her every Sunday.": True,
    "The parcel came on July 4.": True,
    "His exam is on the 3rd of June.": True,
    "He slept a few hours.": True,
    "Tomorrow it will snow.": True,
    "It happened the other day.": True,
    "They married in June 2010.": True,
    "The shop closed last year.": True,
    "Recently the roof was mended.": True,
    "He retired at the end of the 19th century.": True,
    "Dinner is at half past seven.": True,
    "She left at midnight.": True,
    "It rained all night.": True,
    "On Christmas Eve we sing.": True,
    "The heron stood on one leg.": False,
    "Ann likes strong tea without sugar.": False,
    "The bridge is 400 metres long.": False,
    "You may borrow my bicycle.": False,
    "He gave her a second chance.": False,
    "The army will march to the sea.": False,
    "Room 214 has a view of the garden.": False,
    "My dog is called Biscuit.": False,
    "The recipe needs three eggs.": False,
    "Leaves fall on the path.": False,
    "The stairs are steep and narrow.": False,
    "Some like the sea, others the hills.": False,
    "Version 3.11 was installed.": False,
    "Her number is 555 0199.": False,
    "The capital of Norway is Oslo.": False,
    "She plays the violin and the cello.": False,
}
CHINESE = {
    "我们昨天在码头见面。": True,
    "他生于1984年。": True,
    "婚礼在五月八日举行。": True,
    "她上个月搬家了。": True,
    "下周三我要考试。": True,
    "商店早上九点开门。": True,
    "三年前他退休了。": True,
    "去年夏天湖水很浅。": True,
    "他们结婚十年了。": True,
    "最近屋顶修好了。": True,
    "星期天我们去看她。": True,
    "他睡了几个小时。": True,
    "明天会下雪。": True,
    "二十世纪初这里是村庄。": True,
    "後來他們成了朋友。": True,
    "春节我们回老家。": True,
    "鹭鸶站在水里。": False,
    "她喜欢喝浓茶。": False,
    "这座桥长四百米。": False,
    "我的狗叫饼干。": False,
    "挪威的首都是奥斯陆。": False,
    "她会拉小提琴。": False,
    "楼梯又陡又窄。": False,
    "这道菜要三个鸡蛋。": False,
}


@pytest.mark.parametrize(
    ("sentences", "precision", "recall"), [(ENGLISH, 0.96, 0.83), (CHINESE, 1.0, 0.93)], ids=["English", "Chinese"]
)
def test_sentences_that_tell_a_time_are_told_from_others(
    sentences: dict[str, bool], precision: float, recall: float
) -> None:
    told = {sentence for sentence in sentences if find_times(sentence)}
    true = {sentence for sentence, tells in sentences.items() if tells}
    assert len(told & true) / len(told) >= precision, sorted(told - true)
    assert len(told & true) / len(true) >= recall, sorted(true - told)


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("On 8 May, 2023 and on 8 May, 2023 again, at 5 pm.", ("8 May, 2023", "5 pm")),
        ("two weeks ago", ("two weeks ago",)),
        ("YESTERDAY or yesterday", ("YESTERDAY", "yesterday")),
        ("at 2026-01-31T10:00:59Z or 2026-01-31T10:00", ("2026-01-31T10:00",)),
        ("from 2026-01 to 2026-02-01.", ("2026-01", "2026-02-01")),
        ("三个小时前，两小时后，幾個小時", ("三个小时前", "两小时后", "幾個小時")),
        ("他1984年和1984年后来了", ("1984年", "1984年后")),
        ("", ()),
    ],
)
def test_words_are_given_as_they_are_written_each_once_in_order(text: str, times: tuple[str, ...]) -> None:
    found = find_times(text)
    assert found == times
    assert all(word in text for word in found)
