"""TOML with places: what is read, and that hostile text takes linear time."""

import time

import pytest

from anywarp.migrate.formats.toml_text import texts


def test_toml_is_read_with_its_places() -> None:
    data = """
[a."b c"]
x = 'one'  # "no"
y.z = [ "two", ["three"], { k = 'four', l.m = "five" } ]
n = 1
[[t]]
s = \"\"\"six
seven\"\"\"
"""
    found = [(one.path, one.text, data[one.start : one.end]) for one in texts(data)]
    assert found == [
        (("a", "b c", "x"), "one", "one"),
        (("a", "b c", "y", "z"), "two", "two"),
        (("a", "b c", "y", "z"), "three", "three"),
        (("a", "b c", "y", "z", "k"), "four", "four"),
        (("a", "b c", "y", "z", "l", "m"), "five", "five"),
        (("t", "s"), "six\nseven", "six\nseven"),
    ]


def test_the_table_is_told_from_the_keys_in_it() -> None:
    found = [
        (one.table, one.key, one.entry, one.first)
        for one in texts('[a.b]\nc.d = { e = "1" }\n[[t]]\nx = ["2"]\ny = "3"\n[[t]]\nx = "4"\n')
    ]
    assert found == [
        ("a.b", "c.d.e", False, False),
        ("t", "x", True, True),
        ("t", "y", False, False),
        ("t", "x", False, True),
    ]


def test_brackets_that_close_together_close_one_array_each() -> None:
    found = [(one.path, one.text) for one in texts('a = [[1], ["b"]]\nc = "x"\n[t]\nd = [ [["e"]]]\nf = "y"')]
    assert found == [(("a",), "b"), (("c",), "x"), (("t", "d"), "e"), (("t", "f"), "y")]


@pytest.mark.parametrize(
    "text",
    [
        '<<<<<<< HEAD\nx = ["one",\n=======\nx = ["one",\n>>>>>>> other\n"two"]',
        'x = [{% if a %}\n"one",\n{% endif %}\n"two"]',
        'x = ["one" "two"]',
        "{{ name }}\ny = {{ name }}\nx = ['one', \"two\"",
        'y = "never closed\nz = """\nx = ["one", "two"]',
    ],
)
def test_what_is_no_toml_is_passed_over(text: str) -> None:
    assert [one.text for one in texts(text) if one.key.startswith("x") and one.text][-2:] == ["one", "two"]


def test_strings_after_what_is_no_toml_are_stray() -> None:
    found = [
        (one.key, one.text, one.stray) for one in texts('a = {v"1"}\nb = = "2"\nc = "3" "4"\nd } = ["5"]\n["6"]\n"7"')
    ]
    assert found == [("a", "1", True), ("b", "2", True), ("c", "3", False), ("c", "4", True), ("d", "5", True)]


@pytest.mark.parametrize(
    "piece",
    ['\\"""\n', '\\"\\\n', "'''\"\n", '"""', "x = [", "x = {a = ", "[", "[[", "a.", '"a".', "{a.", "= ", '"\\', "]", "\\'''\n"],
)  # fmt: skip
def test_hostile_text_takes_linear_time(piece: str) -> None:
    def seconds(times: int) -> float:
        text = f'x = ["""\n{piece * times}'
        begin = time.process_time()
        for _ in texts(text):
            pass
        return time.process_time() - begin

    assert seconds(16_000) < 20 * min(seconds(2_000) for _ in range(3)) + 0.2
