"""The pages as a browser asks for them: over HTTP, from results that may hold anything."""

import asyncio
import http.client
import json
import threading
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from anywarp.check.store import Run, opened

pytest.importorskip("aiohttp")

EVIL = "<script>alert(1)</script>\"'&"


class Site:
    """The server in a thread, and requests to it."""

    def __init__(self, changes=False):
        from anywarp.deploy.ui.server import serve

        self.loop, self.ended, self.started = asyncio.new_event_loop(), None, threading.Event()

        async def run():
            self.ended = asyncio.Event()
            await serve("127.0.0.1", 0, changes, self.ready, self.ended)

        self.thread = threading.Thread(target=self.loop.run_until_complete, args=(run(),))
        self.thread.start()
        assert self.started.wait(30)

    def ready(self, served):
        self.port, self.key = served.port, parse_qs(urlsplit(served.address).query)["key"][0]
        self.started.set()

    def close(self):
        self.loop.call_soon_threadsafe(self.ended.set)
        self.thread.join(30)
        self.loop.close()

    def ask(self, path, method="GET", known=True, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        cookie = {"Cookie": f"anywarp-ui-{self.port}={self.key}"} if known else {}
        connection.request(method, path, headers={**cookie, **headers})
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer


@pytest.fixture(autouse=True)
def private(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYWARP_RESULTS", str(tmp_path / "results.sqlite"))
    monkeypatch.setenv("ANYWARP_ROLLOUTS", str(tmp_path / "rollouts"))


@pytest.fixture(params=[False])
def site(request):
    made = Site(request.param)
    yield made
    made.close()


def keep(**fields):
    with opened() as store:
        return store.add(
            Run(**{"kind": "verify", "result": {"grade": "fail", "reason": f"it differs {EVIL}"}, **fields})
        )


def test_the_first_page_has_the_newest_result_of_each_kind(site):
    identity = keep(model=EVIL, device=EVIL, dtype=EVIL, machine=EVIL)
    answer = site.ask("/")
    assert answer.status == 200 and identity[:8] in answer.text and "fail" in answer.text
    assert "<script" not in answer.text and "&lt;script" in answer.text


@pytest.mark.parametrize(
    "path", ["/", "/results", "/results/{}", "/results/{}/page", "/results/{}/json", "/rollouts/x"]
)
def test_nothing_is_shown_without_the_key(site, path):
    answer = site.ask(path.format(keep(model="secret")), known=False)
    assert answer.status == 403 and "secret" not in answer.text and "it differs" not in answer.text


def test_the_key_becomes_a_cookie_and_leaves_the_address(site):
    answer = site.ask(f"/results?kind=bench&key={site.key}", known=False)
    assert answer.status == 303 and answer.headers["Location"] == "/results?kind=bench"
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and site.key in cookie


@pytest.mark.parametrize("path", ["/", "/nothing", "/results/none"])
def test_every_answer_forbids_scripts_and_frames_of_others(site, path):
    answer = site.ask(path)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src" not in policy and "frame-ancestors 'self'" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Cache-Control"] == "no-store"


def test_a_result_is_shown_with_where_it_comes_from(site):
    identity = keep(
        model="net.py", versions={"torch": "2.13.0"}, flags={"tf32": True, "x": {"y": [1, EVIL]}}, digest="abc123"
    )
    answer = site.ask(f"/results/{identity}")
    assert answer.status == 200 and "<script" not in answer.text
    assert all(text in answer.text for text in ("net.py", "torch 2.13.0", "tf32 True", "abc123"))
    assert json.loads(site.ask(f"/results/{identity}/json").text)["id"] == identity


@pytest.mark.parametrize("identity", ["none", "a" * 64, "a" * 5000, "..%2f..%2fetc", "%00", "%", "';--", "é"])
def test_what_is_not_there_is_said(site, identity):
    keep()
    answer = site.ask("/results/" + quote(identity, safe="%"))
    assert answer.status in (400, 404) and "Not shown" in answer.text


@pytest.mark.parametrize("name", ["none", "..", "%2e%2e", "..%2f..", "%00", "a" * 5000])
def test_a_rollout_that_is_not_there_is_said(site, name):
    assert site.ask(f"/rollouts/{name}").status in (400, 404)


@pytest.mark.parametrize("result", [{}, {"grade": 7}, {"grade": "fail"}, {"grade": {"a": []}, "reason": None}])
@pytest.mark.parametrize("kind", ["verify", "bench", "cost", "assess", "rollout"])
def test_a_result_in_another_form_is_listed_all_the_same(site, kind, result):
    identity = keep(kind=kind, result=result)
    assert site.ask("/").status == 200
    assert "not in a form" in site.ask("/results").text
    assert site.ask(f"/results/{identity}").status == 200


def test_results_are_found_by_kind_and_text(site):
    keep(model="story.py"), keep(model="Net", kind="bench"), keep(device="hip gfx942")
    assert site.ask("/results?kind=bench").text.count("/results/") == 1 + 0
    assert "hip gfx942" in site.ask("/results?text=GFX9").text and "story.py" not in site.ask("/results?text=GFX9").text
    assert "Nothing matches" in site.ask("/results?text=" + quote(EVIL)).text
    assert site.ask("/results?kind=" + quote(EVIL)).status == 200


def test_nothing_is_removed_where_that_was_not_asked_for(site):
    identity = keep()
    answer = site.ask(f"/results/{identity}/remove", "POST", Origin=f"http://127.0.0.1:{site.port}")
    assert answer.status == 403 and "--allow-changes" in answer.text
    assert "remove" not in site.ask(f"/results/{identity}").text.lower()
    assert site.ask(f"/results/{identity}").status == 200


@pytest.mark.parametrize("site", [True], indirect=True)
def test_a_result_is_removed_from_its_page_and_from_nowhere_else(site):
    identity = keep()
    assert "Remove this result" in site.ask(f"/results/{identity}").text
    for origin in ({}, {"Origin": "null"}, {"Origin": "http://evil.example"}):
        assert site.ask(f"/results/{identity}/remove", "POST", **origin).status == 403
    assert site.ask(f"/results/{identity}/remove", "GET").status == 405
    assert site.ask(f"/results/{identity}/remove", "POST", Origin=f"http://127.0.0.1:{site.port}").status == 303
    assert site.ask(f"/results/{identity}").status == 404


def test_a_database_that_is_none_is_said(site, tmp_path):
    (tmp_path / "results.sqlite").write_bytes(b"not a database, but long enough to be looked at as one" * 99)
    answer = site.ask("/")
    assert answer.status == 500 and "V031" in answer.text


def test_a_request_for_another_host_gets_nothing(site):
    assert site.ask("/", Host=f"evil.example:{site.port}").status == 421


def test_a_busy_port_is_said(site):
    from anywarp.deploy.ui.server import serve
    from anywarp.diagnostics import AnywarpError

    with pytest.raises(AnywarpError) as caught:
        asyncio.run(serve("127.0.0.1", site.port, False, lambda _: None))
    assert caught.value.diagnostic.code == "Y131" and "--port" in caught.value.diagnostic.help


@pytest.mark.parametrize("kind", ["fleet", "organisation"])
def test_reports_of_fleets_and_organisations_are_shown(site, kind):
    kept = {
        "tasks": 3,
        "done": 2,
        "failed": 1,
        "units": 4,
        "gpus": 8,
        "days": "1 to 2 person-days",
        "blocked": 1,
        "page": f"<p>{kind}'s own page</p>",
    }
    with opened() as store:
        identity = store.add(Run(kind, kept, model=EVIL))
    overview = site.ask("/").text
    assert {"fleet": "2 of 3 tasks have results", "organisation": "4 to move, 8 GPUs, 1 to 2 person-days"}[
        kind
    ] in overview
    assert {"fleet": "1 failed", "organisation": "1 without a path"}[kind] in overview and EVIL not in overview
    assert site.ask(f"/results/{identity}/page").text == f"<p>{kind}'s own page</p>"


def test_an_assessment_without_a_page_is_shown_without_one(site):
    with opened() as store:
        identity = store.add(Run("assess", {"findings": 0, "answers": {}}))
    assert "<iframe" not in site.ask(f"/results/{identity}").text
