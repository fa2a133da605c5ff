"""Who may look at the pages: the key, the host that is named, and where a change comes from."""

import pytest

from anywarp.deploy.ui.guard import Guard

HOST = "127.0.0.1:8123"


@pytest.fixture(params=[False, True], ids=["read only", "changes"])
def guard(request):
    return Guard(frozenset({HOST, "localhost:8123"}), request.param)


def ask(guard, method="GET", host=HOST, key="", cookie="", **headers):
    cookies = {guard.cookie_name(host): cookie} if cookie else {}
    return guard.judge(method, {"Host": host, **headers}, {"key": key} if key else {}, cookies)


def test_the_key_in_the_address_lets_in(guard):
    assert ask(guard, key=guard.key) == "enter"


def test_the_cookie_lets_in(guard):
    assert ask(guard, cookie=guard.key) == "welcome"
    assert ask(guard, host="localhost:8123", cookie=guard.key) == "welcome"


@pytest.mark.parametrize("given", ["", "x", "\udcff", "é" * 43])
def test_nothing_else_does(guard, given):
    assert ask(guard, key=given) == ask(guard, cookie=given) == "unknown"
    assert ask(guard, cookie=guard.key[:-1]) == "unknown"


@pytest.mark.parametrize("host", ["", "evil.example:8123", "127.0.0.1", "127.0.0.1:80"])
def test_a_name_that_was_made_to_point_here_is_answered_nothing(guard, host):
    assert ask(guard, host=host, key=guard.key) == ask(guard, host=host, cookie=guard.key) == "elsewhere"


def test_nothing_is_changed_unless_that_was_asked_for(guard):
    answer = ask(guard, "POST", cookie=guard.key, Origin=f"http://{HOST}")
    assert answer == ("welcome" if guard.changes else "read only")


@pytest.mark.parametrize(
    "origin", ["", "null", "http://evil.example", "https://127.0.0.1:8123", "http://localhost:8123"]
)
def test_a_change_comes_from_a_page_of_ours(origin):
    guard = Guard(frozenset({HOST, "localhost:8123"}), True)
    assert ask(guard, "POST", cookie=guard.key, Origin=origin) == "foreign"


def test_a_change_is_not_made_by_an_address_with_the_key():
    guard = Guard(frozenset({HOST}), True)
    assert ask(guard, "POST", key=guard.key, Origin=f"http://{HOST}") == "unknown"


def test_two_servers_do_not_share_cookies_or_keys():
    one, two = (Guard(frozenset({f"127.0.0.1:{port}"}), False) for port in (1, 2))
    assert one.key != two.key and one.cookie_name("127.0.0.1:1") != two.cookie_name("127.0.0.1:2")
