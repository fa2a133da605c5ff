"""HAProxy itself, started as a rollout starts it, before two small servers."""

import http.client
import shutil

import pytest

from anywarp.deploy.rollout.drivers.driver import driver
from anywarp.deploy.rollout.traffic import Traffic
from anywarp.diagnostics import AnywarpError

from .plans import plan
from .servers import free_port, member, serving

pytestmark = pytest.mark.skipif(shutil.which("haproxy") is None, reason="haproxy is not installed")


@pytest.fixture
def world(tmp_path):
    states = {"a": {"well": True}, "b": {"well": True}}
    listen = free_port()
    with serving(member("a", states["a"])) as a, serving(member("b", states["b"])) as b:
        made = plan(a=a, b=b, driver=f'{{kind: haproxy, listen: "127.0.0.1:{listen}", drain: 1s}}')
        one = driver(made, tmp_path)
        yield one, listen, states, made, tmp_path
        one.stop()


def ask(port, count=1, headers=None, body=None):
    """The servers that answered, and the last answer's headers."""
    out = []
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    for _ in range(count):
        link.request(
            "POST" if body else "GET",
            "/v1/completions",
            body=body,
            headers={"Content-Type": "application/json", **(headers or {})},
        )
        answer = link.getresponse()
        out.append(answer.read().decode() if answer.status == 200 else str(answer.status))
    link.close()
    return out, answer.headers


def test_share_is_put_into_effect_and_read_back(world):
    one, port, _, _, _ = world
    assert "HAProxy" in one.check()
    for share in (0.0, 0.25, 1.0):
        one.apply(Traffic("stage", share))
        assert one.read() == share
        answers, headers = ask(port, 200)
        assert abs(answers.count("b") / 200 - share) <= (0.13 if 0 < share < 1 else 0), (
            share
        )  # four standard deviations
        assert headers["x-anywarp-side"] in ("source/a", "target/b")


def test_conversations_stay_on_their_side_until_a_rollback(world):
    one, port, _, _, _ = world
    one.apply(Traffic("half", 0.5))
    first = {n: ask(port, 1, {"X-Conversation-Id": f"talk {n}"})[0][0] for n in range(40)}
    assert set(first.values()) == {"a", "b"}
    one.apply(Traffic("most", 0.9))
    assert all(set(ask(port, 3, {"X-Conversation-Id": f"talk {n}"})[0]) == {side} for n, side in first.items())
    one.apply(Traffic("back", 0.0))
    assert all(ask(port, 1, {"X-Conversation-Id": f"talk {n}"})[0] == ["a"] for n in first)


def test_user_in_the_body_names_a_conversation(world):
    one, port, _, _, _ = world
    one.apply(Traffic("half", 0.5))
    for user in ("ann", "bob", "cleo"):
        assert len(set(ask(port, 8, body=f'{{"user": "{user}", "prompt": "x"}}')[0])) == 1


def test_cookie_keeps_a_browser_on_its_side(world):
    one, port, _, _, _ = world
    one.apply(Traffic("half", 0.5))
    for _ in range(6):
        answers, headers = ask(port)
        cookie = headers["set-cookie"].partition(";")[0]
        assert set(ask(port, 5, {"Cookie": cookie})[0]) == set(answers)
    one.apply(Traffic("back", 0.0))
    assert ask(port, 5, {"Cookie": "anywarp-side=target"})[0] == ["a"] * 5


def test_said_twice_changes_nothing_and_a_new_process_goes_on(world):
    one, port, _, made, folder = world
    one.apply(Traffic("some", 0.3))
    pid = (folder / "haproxy.pid").read_text()
    one.apply(Traffic("some", 0.3))
    again = driver(made, folder)
    again.apply(Traffic("some", 0.3))
    assert (folder / "haproxy.pid").read_text() == pid
    assert again.read() == 0.3


def test_haproxy_that_died_is_started_with_the_share(world):
    import os
    import signal
    import time

    one, port, _, _, folder = world
    one.apply(Traffic("all", 1.0))
    os.kill(int((folder / "haproxy.pid").read_text()), signal.SIGKILL)
    time.sleep(0.2)
    assert one.read() is None
    one.apply(Traffic("all", 1.0))
    assert ask(port, 5)[0] == ["b"] * 5


def test_member_that_is_not_well_gets_nothing(world):
    import time

    one, port, states, _, _ = world
    one.apply(Traffic("all", 1.0))
    states["b"]["well"] = False
    end = time.monotonic() + 15
    while time.monotonic() < end and ask(port)[0] != ["a"]:
        time.sleep(0.2)
    assert ask(port, 5)[0] == ["a"] * 5


def test_port_that_is_taken_is_said(tmp_path):
    with serving(member("x")) as taken:
        one = driver(plan(driver=f'{{kind: haproxy, listen: "127.0.0.1:{taken}"}}'), tmp_path)
        with pytest.raises(AnywarpError, match="does not start"):
            one.apply(Traffic("some", 0.3))


def test_missing_haproxy_is_said(tmp_path):
    one = driver(plan(driver="{kind: haproxy, binary: no-such-haproxy}"), tmp_path)
    with pytest.raises(AnywarpError, match="there is no no-such-haproxy"):
        one.check()
