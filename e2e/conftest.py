"""Real processes for the tests: SearXNG instances, a Redis for the limiter, and the gateway in front of them."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

HERE = Path(__file__).parent
REQUIRED = os.environ.get("GLEANER_REQUIRE_SERVICES") == "1"

ENGINES = {
    "shelf": {"kind": "web", "shortcut": "sh", "paging": True, "time_range_support": True, "safesearch": True},
    "wide": {"kind": "wide", "shortcut": "wi", "paging": True, "weight": 2.5, "delay": 0.08},
    "no pages": {"kind": "web", "shortcut": "np", "disabled": True},
    "pictures": {"kind": "images", "shortcut": "pic", "categories": ["images"]},
    "films": {"kind": "videos", "shortcut": "fi", "categories": ["videos"]},
    "torrents": {"kind": "torrents", "shortcut": "to", "categories": ["files"]},
    "answers": {"kind": "answers", "shortcut": "an", "disabled": True},
    "crash": {"kind": "crash", "shortcut": "cr", "disabled": True},
    "slow": {"kind": "web", "shortcut": "sl", "delay": 0.4, "disabled": True},
    "late": {"kind": "web", "shortcut": "la", "delay": 1.5, "timeout": 1.0, "disabled": True},
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def missing(what):
    """A service that is not there skips the test; where services are required it fails."""
    if REQUIRED:
        pytest.fail(f"{what} is required and missing")
    print(f"skipped: {what} is not installed", file=sys.stderr)
    pytest.skip(f"{what} is not installed")


def wait_for(condition, what, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            result = condition()
            if result:
                return result
        except (requests.RequestException, OSError):
            pass
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come in {seconds} s")


class Process:
    """A child that is ended with the test."""

    def __init__(self, command, **options):
        self.child = subprocess.Popen(command, **options)

    def stop(self):
        self.child.terminate()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class SearXNG(Process):
    """One SearXNG under granian, as in the official container: one worker, four threads."""

    def __init__(self, folder, port=None, formats=("html", "json", "csv", "rss"), redis=None, limiter=False):
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        folder.mkdir(exist_ok=True)
        engines = [
            {"name": name, "engine": str(HERE / "searxng" / "shelf"), "disabled": False, **settings}
            for name, settings in ENGINES.items()
        ]
        settings = {
            "use_default_settings": {"engines": {"keep_only": []}},
            "general": {"instance_name": "e2e", "enable_metrics": False},
            "search": {"formats": list(formats), "autocomplete": ""},
            "server": {"secret_key": "only for tests", "limiter": limiter, "bind_address": "127.0.0.1"},
            "outgoing": {"proxies": {"all://": ["http://127.0.0.1:9"]}},
            "plugins": {
                "searx.plugins.calculator.SXNGPlugin": {"active": False},
                "searx.plugins.hash_plugin.SXNGPlugin": {"active": True},
                "searx.plugins.unit_converter.SXNGPlugin": {"active": True},
            },
            "engines": engines,
        }
        if redis:
            settings["valkey"] = {"url": f"redis://127.0.0.1:{redis}/0"}
        # JSON is YAML.
        (folder / "settings.yml").write_text(json.dumps(settings))
        environment = {**os.environ, "SEARXNG_SETTINGS_PATH": str(folder / "settings.yml"), "TMPDIR": str(folder)}
        granian = Path(sys.executable).parent / "granian"
        command = [granian, "searx.webapp:app", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(self.port)]
        log = open(folder / "searxng.log", "ab")
        super().__init__([*command, "--blocking-threads", "4"], env=environment, stdout=log, stderr=log)
        wait_for(lambda: requests.get(f"{self.url}/healthz", timeout=2).ok, f"SearXNG at {self.url}")


class Gateway(Process):
    """The gateway under test."""

    def __init__(self, folder, instances, extra=""):
        binary = gateway_binary()
        config = folder / "gleaner.toml"
        listed = ", ".join(json.dumps(instance) if isinstance(instance, str) else instance for instance in instances)
        config.write_text(f'listen = "127.0.0.1:0"\n[searxng]\ninstances = [{listed}]\n{extra}')
        log = open(folder / "gateway.log", "ab")
        super().__init__([binary, "serve", "--config", config], stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.child.stdout.readline().strip()
        assert line.startswith("gleaner listening on http://"), line
        self.url = line.rsplit(" ", 1)[1]


def gateway_binary():
    named = os.environ.get("GLEANER_BIN")
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
    for candidate in filter(None, [named, target / "release" / "gleaner", target / "debug" / "gleaner"]):
        if Path(candidate).exists():
            return str(candidate)
    missing("the gateway's binary")


@pytest.fixture
def processes():
    """Keeps what a test starts, and ends it."""
    started = []

    def keep(process):
        started.append(process)
        return process

    yield keep
    for process in reversed(started):
        process.stop()


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    instance = SearXNG(tmp_path_factory.mktemp("plain"))
    yield instance
    instance.stop()


@pytest.fixture(scope="session")
def html_only(tmp_path_factory):
    instance = SearXNG(tmp_path_factory.mktemp("html"), formats=["html"])
    yield instance
    instance.stop()


@pytest.fixture(scope="session")
def redis(tmp_path_factory):
    server = shutil.which("valkey-server") or shutil.which("redis-server")
    if not server:
        missing("valkey-server or redis-server")
    port = free_port()
    folder = tmp_path_factory.mktemp("redis")
    command = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = Process(command, stdout=subprocess.DEVNULL)

    def answers():
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")

    wait_for(answers, "the Redis server")
    yield port
    process.stop()


@pytest.fixture(scope="session")
def limited(tmp_path_factory, redis):
    instance = SearXNG(tmp_path_factory.mktemp("limited"), redis=redis, limiter=True)
    yield instance
    instance.stop()


@pytest.fixture(scope="session")
def gateway(tmp_path_factory, plain):
    process = Gateway(tmp_path_factory.mktemp("gateway"), [plain.url])
    yield process
    process.stop()
