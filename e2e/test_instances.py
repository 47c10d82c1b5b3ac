"""The gateway in front of real instances that are not all alike."""

import requests

from conftest import Gateway, SearXNG, free_port, wait_for


def search(gateway, words, **parameters):
    return requests.get(f"{gateway.url}/search", params={"q": words, "format": "json", **parameters}, timeout=10)


def test_an_instance_with_searxngs_default_formats_is_answered_in_json(html_only, processes, tmp_path):
    gateway = processes(Gateway(tmp_path, [html_only.url]))
    assert requests.get(f"{html_only.url}/search", params={"q": "x", "format": "json"}, timeout=5).status_code == 403
    page = search(gateway, "rust", engines="shelf").json()
    assert page["query"] == "rust"
    urls = [hit["url"] for hit in page["results"]]
    assert urls[:2] == ["https://shelf.example/1/1?q=4", "https://shelf.example/1/2?q=4"]
    assert page["results"][0]["engines"] == ["shelf"]
    crash = search(gateway, "rust", engines="crash").json()
    assert ["crash", "unexpected crash"] in crash["unresponsive_engines"]
    assert "search.formats" in requests.get(f"{gateway.url}/readyz", timeout=5).text


def test_our_headers_pass_the_limiter(limited, processes, tmp_path):
    bare = requests.get(f"{limited.url}/search", params={"q": "x", "format": "json"}, timeout=5)
    assert bare.status_code == 429
    gateway = processes(Gateway(tmp_path, [limited.url]))
    assert search(gateway, "rust", engines="shelf").status_code == 200


def test_the_limiters_refusal_moves_on_to_the_next_instance(limited, plain, processes, tmp_path):
    passing = {"Accept": "text/html", "Accept-Encoding": "gzip", "Accept-Language": "en", "User-Agent": "e2e"}
    statuses = [
        requests.get(f"{limited.url}/search", params={"q": "x", "format": "json"}, headers=passing, timeout=5).status_code
        for _ in range(5)
    ]
    assert statuses[-1] == 429, statuses
    gateway = processes(Gateway(tmp_path, [limited.url, plain.url]))
    for number in range(6):
        assert search(gateway, f"rust {number}", engines="shelf").status_code == 200
    pool = requests.get(f"{gateway.url}/api/v1/pool", timeout=5).json()["instances"]
    states = {instance["url"]: instance["circuit"] for instance in pool}
    assert states == {limited.url: "open", plain.url: "closed"}


def test_config_tells_the_engines_of_the_pool(plain, gateway):
    def told():
        reply = requests.get(f"{gateway.url}/config", timeout=5)
        return reply.ok and reply.json()

    config = wait_for(told, "the pool's configuration")
    own = requests.get(f"{plain.url}/config", timeout=5).json()
    assert {engine["name"] for engine in config["engines"]} == {engine["name"] for engine in own["engines"]}
    assert any({"general", "web"} <= set(engine["categories"]) and engine["enabled"] for engine in config["engines"])


def test_when_the_instance_dies_and_comes_back_the_gateway_recovers_by_itself(processes, tmp_path):
    port = free_port()
    instance = SearXNG(tmp_path / "one", port=port)
    gateway = processes(Gateway(tmp_path, [instance.url], '[pool.cooldown_by_reason]\ntransport = "200ms"\n'))
    assert search(gateway, "rust").status_code == 200
    instance.stop()
    assert search(gateway, "rust").status_code in (502, 503)
    assert requests.get(f"{gateway.url}/healthz", timeout=5).text == "OK"
    processes(SearXNG(tmp_path / "one", port=port))
    wait_for(lambda: search(gateway, "rust").status_code == 200, "the recovery")


def test_two_instances_share_the_searches(plain, processes, tmp_path):
    other = processes(SearXNG(tmp_path / "other"))
    gateway = processes(Gateway(tmp_path, [plain.url, other.url]))
    for number in range(6):
        assert search(gateway, f"rust {number}").json()["results"]
    other.stop()
    for number in range(6):
        assert search(gateway, f"rust again {number}").json()["results"]
