"""The record of what was measured of a machine: made once, kept, made anew when it is damaged, and gone by."""

import asyncio
import os
import subprocess

import pytest

from anywarp.compiler.artifact import pack_container, unpack
from anywarp.devices.device import find
from anywarp.runtime import keys, service
from anywarp.runtime.build_id import build_id
from anywarp.runtime.cache import Cache
from anywarp.runtime.measured import Record, find_record, read_record
from anywarp.runtime.wire import message
from fakes.images import ptx
from runtime import test_driver

BLOCK = (64, 1, 1)


def record(tuning: str) -> bytes:
    return pack_container(f"kind machine\ntuning {tuning}\nfigure gather 24000\n", b"")


def key_of(build_id: str = "test") -> str:
    return keys.machine_key(build_id, find("cpu").identity())


@pytest.fixture
def cache(place):
    return Cache(place / "cache", 1 << 30)


def test_a_machine_is_measured_once(client, cache):
    identity = find("cpu").identity()
    first = client.measure(identity)
    assert (first.value("status"), first.value("cached")) == ("ok", "0")
    assert read_record(first.payload) == find_record(cache, "test", identity)
    second = client.measure(identity)
    assert second.value("cached") == "1" and second.payload == first.payload


def test_a_record_that_is_there_holds(client, cache):
    cache.put(key_of(), record("stream=64"))
    assert read_record(client.measure(find("cpu").identity()).payload) == Record("stream=64", {"gather": 24000.0})


def test_a_damaged_record_is_measured_anew(client, cache):
    cache.put(key_of(), record("stream=64"))
    path = cache.path(key_of())
    path.write_bytes(path.read_bytes()[:-3])
    assert find_record(cache, "test", find("cpu").identity()) is None
    reply = client.measure(find("cpu").identity())
    assert reply.value("cached") == "0" and read_record(reply.payload) == find_record(
        cache, "test", find("cpu").identity()
    )


@pytest.mark.parametrize("device", ["toy:1", "cpu:0000000000000000", "cpu:0000000000000000:stream=8"])
def test_what_is_not_this_machine_or_has_nothing_to_measure_has_no_record(client, cache, device):
    assert client.measure(device).value("status") == "none"
    assert list(cache.entries()) == []


def test_code_for_other_choices_is_another_entry(client, cache):
    identity, image = find("cpu").identity(), ptx("add()")
    plain = client.compile(identity, image, "add", BLOCK)
    other = client.compile(f"{identity}:vector=256", image, "add", BLOCK)
    assert other.value("cached") == "0" and unpack(other.payload).name == unpack(plain.payload).name == "add"
    assert len(list(cache.entries())) == 2


def test_choices_that_make_no_sense_are_refused(client, cache):
    reply = client.compile(f"{find('cpu').identity()}:stream=0", ptx("add()"), "add", BLOCK)
    assert (reply.value("status"), reply.value("diagnostic")) == ("error", "D003")
    assert list(cache.entries()) == []


class Pool:
    """Answers at once, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, request, image):
        self.asked.append(f"{request.value('op')} {request.value('device')}")
        return message(("status", "ok"), payload=record("-"))


def test_the_service_measures_when_nobody_has_asked_for_anything_for_a_while(cache, monkeypatch):
    monkeypatch.setattr(service, "QUIET", 0.05)
    pool = Pool()

    async def run() -> None:
        made = service.Service("test", cache, pool)
        measuring = asyncio.create_task(made.measure_when_quiet())
        await asyncio.sleep(0.2)
        assert pool.asked == []  # nobody has asked for code yet
        image = b"//"
        name = keys.image_key(image)
        with made._busy():
            for device in ("cpu:1", "cpu:1"):
                key = keys.kernel_key("test", device, name, f"k{len(pool.asked)}", BLOCK, "")
                lines = (("op", "compile"), ("image", name), ("device", device), ("kernel", f"k{len(pool.asked)}"))
                await made.answer(message(*lines, ("block", *BLOCK), ("options", ""), ("key", key), payload=image))
            await asyncio.sleep(0.2)
            assert pool.asked == ["compile cpu:1"] * 2  # it is busy
        await asyncio.sleep(0.3)
        measuring.cancel()

    asyncio.run(run())
    assert pool.asked == ["compile cpu:1"] * 2 + ["measure cpu:1"]
    assert find_record(cache, "test", "cpu:1") == Record("", {"gather": 24000.0})


@pytest.mark.native
@pytest.mark.parametrize(("tuning", "suffix"), [("-", ""), ("stream=8", ":stream=8"), ("BAD%20WORDS", "")])
def test_programs_ask_for_code_that_goes_by_the_record(place, cache, monkeypatch, tuning, suffix):
    monkeypatch.setenv("ANYWARP_SERVICE_IDLE", "5")
    monkeypatch.delenv("ANYWARP_BUILD_ID")
    file = place / "kernels.ptx"
    file.write_text(test_driver.ptx(1))
    cache.put(key_of(build_id()), record(tuning))
    done = subprocess.run(test_driver.command(file, 1, 64), capture_output=True, text=True, timeout=60, env=os.environ)
    assert (done.stdout, done.stderr) == ("right\n", "")
    image = keys.image_key(file.read_bytes())
    found = {
        words
        for words in ("", ":stream=8")
        if cache.get(keys.kernel_key(build_id(), find("cpu").identity() + words, image, "add0", BLOCK, ""))
    }
    assert found == {suffix}
