"""The gateway's answer equals the instance's own: status, content type, keys in order, values and number forms."""

import json
import re

import pytest
import requests

GET = [
    "q=rust+async&format=json",
    "q=rust&format=json&engines=shelf",
    "q=rust&format=json&engines=wide",
    "q=rust&format=json&engines=no+pages",
    "q=rust&format=json&engines=shelf,wide,no+pages",
    "q=rust&format=json&engines=nosuch",
    "q=rust&format=json&engines=answers",
    "q=rust&format=json&engines=crash",
    "q=rust&format=json&engines=crash,shelf",
    "q=rust&format=json&engines=slow",
    "q=rust&format=json&engines=late,shelf",
    "q=rust&format=json&categories=images",
    "q=rust&format=json&categories=videos",
    "q=rust&format=json&categories=files",
    "q=rust&format=json&categories=general,images",
    "q=rust&format=json&categories=nosuch",
    "q=rust&format=json&category_images=on",
    "q=rust&format=json&pageno=2",
    "q=rust&format=json&pageno=%D9%A3",
    "q=rust&format=json&pageno=2&engines=no+pages",
    "q=rust&format=json&language=de",
    "q=rust&format=json&language=all",
    "q=rust&format=json&language=en-US",
    "q=rust&format=json&time_range=week",
    "q=rust&format=json&time_range=year&engines=wide",
    "q=rust&format=json&safesearch=2",
    "q=%21sh+rust&format=json",
    "q=%21images+rust&format=json",
    "q=%21nosuch+rust&format=json",
    "q=%3Ade+rust&format=json",
    "q=%21%21w+rust&format=json",
    "q=%21%21+rust&format=json&engines=shelf",
    "q=%20&format=json&engines=shelf",
    "q=%E6%97%A5%E6%9C%AC%E8%AA%9E+%F0%9F%98%80+caf%C3%A9&format=json",
    "q=%FF%FEabc&format=json&engines=shelf",
    "q=a%22b%27+%3Cscript%3E+%26amp%3B+%5C+%09x%0Ay&format=json&engines=shelf",
    "q=zeroresults&format=json&engines=shelf",
    "q=avg+1+2+3&format=json",
    "q=sha256+hello&format=json&engines=shelf",
    "q=10+km+in+mi&format=json&engines=shelf",
    "q=rust&format=csv",
    "q=caf%C3%A9&format=csv&engines=shelf",
    "q=rust&format=rss",
    "q=rust",
    "q=rust&format=JSON",
    "format=json",
    "q=rust&format=json&pageno=0",
    "q=rust&format=json&language=english",
    "q=rust&format=json&safesearch=3",
    "q=rust&format=json&time_range=hour",
    "q=rust&format=json&timeout_limit=abc",
]

POST = [
    {"data": {"q": "rust", "format": "json", "engines": "shelf"}},
    {"files": {"q": (None, "rust"), "format": (None, "json"), "engines": (None, "shelf")}},
    {"params": {"format": "json", "q": "other"}, "data": {"q": "rust", "engines": "shelf"}},
    {"params": {"format": "json", "q": "rust", "engines": "shelf"}, "headers": {"Content-Type": "application/json"}},
]

HEADERS = {"Accept-Language": "en"}
SETS = {"engines", "suggestions", "corrections"}
ADDED = {"number_of_results"}
HIT_KEYS = {"url", "title", "content", "engine", "engines", "positions", "score", "category", "template", "parsed_url"}


def ordered(text):
    """JSON with its order of keys and the very text of its numbers."""
    return json.loads(text, object_pairs_hook=list, parse_float=lambda x: ("number", x), parse_int=lambda x: ("number", x))


def is_object(value):
    return isinstance(value, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)


def compare(own, ours, path=""):
    """Where the two differ, beyond the documented differences."""
    key = path.rsplit(".", 1)[-1]
    if path == ".results":
        own = [hit for hit in own if usable(dict(hit))]
    if key in SETS and isinstance(own, list):
        assert sorted(own) == sorted(ours), path
        return
    if key in ("title", "content") and own is None:
        assert ours == "", path
        return
    if own and is_object(own):
        keys = [name for name, _ in own]
        added = [name for name, _ in ours if name not in keys]
        assert set(added) <= (ADDED if not path else HIT_KEYS), f"{path}: {added}"
        assert [name for name, _ in ours if name in keys] == keys, f"{path}: order of keys"
        for name, value in own:
            compare(value, dict(ours)[name], f"{path}.{name}")
    elif isinstance(own, list) and isinstance(ours, list):
        assert len(own) == len(ours), f"{path}: {len(own)} and {len(ours)}"
        for place, (one, other) in enumerate(zip(own, ours)):
            compare(one, other, f"{path}[{place}]" if path != ".results" else ".results[]")
    else:
        assert own == ours, f"{path}: {own!r} and {ours!r}"


def usable(hit):
    url = hit.get("url")
    return url.startswith(("http://", "https://")) if url else bool(hit.get("kvmap") or hit.get("magnetlink"))


def same(own, ours):
    assert ours.status_code == own.status_code, ours.text[:300]
    assert ours.headers.get("content-type") == own.headers.get("content-type")
    assert ours.headers.get("location") == own.headers.get("location")
    content_type = own.headers.get("content-type", "")
    if content_type == "application/json":
        compare(ordered(own.text), ordered(ours.text))
    elif content_type == "application/csv":
        assert ours.headers["content-disposition"] == own.headers["content-disposition"]
        assert rows(ours.text) == rows(own.text)
    elif content_type.startswith("text/xml"):
        assert items(ours.text) == items(own.text)
    elif own.status_code == 200:
        for selector in ('class="result ', 'class="url_header"', 'rel="noreferrer"', 'class="content"'):
            assert (selector in ours.text) == (selector in own.text), selector


def rows(text):
    return [row for row in text.replace("\r\n", "\n").split("\n") if "ftp://" not in row]


def items(text):
    found = re.findall(r"<item>.*?</item>", text, re.S)
    # A null text is "None" in SearXNG's feed and empty in ours.
    found = [re.sub(r"\s+", " ", item).replace(">None<", "><") for item in found]
    return [item for item in found if "ftp://" not in item]


@pytest.mark.parametrize("query", GET)
def test_get(query, plain, gateway):
    own = requests.get(f"{plain.url}/search?{query}", headers=HEADERS, timeout=10, allow_redirects=False)
    ours = requests.get(f"{gateway.url}/search?{query}", headers=HEADERS, timeout=10, allow_redirects=False)
    same(own, ours)


@pytest.mark.parametrize("request_", POST, ids=["form", "multipart", "form beats query", "query with a JSON type"])
def test_post(request_, plain, gateway):
    options = {**request_, "headers": {**HEADERS, **request_.get("headers", {})}}
    own = requests.post(f"{plain.url}/search", timeout=10, **options)
    ours = requests.post(f"{gateway.url}/search", timeout=10, **options)
    assert own.headers["content-type"] == "application/json"
    same(own, ours)


@pytest.mark.parametrize("path", ["/?q=rust&format=json", "/", "/healthz", "/nosuch"])
def test_other_paths(path, plain, gateway):
    own = requests.get(plain.url + path, headers=HEADERS, timeout=10, allow_redirects=False)
    ours = requests.get(gateway.url + path, headers=HEADERS, timeout=10, allow_redirects=False)
    assert (ours.status_code, ours.headers["content-type"]) == (own.status_code, own.headers["content-type"])
    assert ours.headers.get("location") == own.headers.get("location")
    if path == "/healthz":
        assert ours.content == own.content


def test_root_post_redirects(plain, gateway):
    own, ours = (
        requests.post(f"{url}/", data={"q": "rust", "format": "json"}, timeout=10, allow_redirects=False)
        for url in (plain.url, gateway.url)
    )
    assert (ours.status_code, ours.headers["location"]) == (own.status_code, own.headers["location"]) == (308, "/search")
    followed = requests.post(f"{gateway.url}/", data={"q": "rust", "format": "json"}, timeout=10)
    assert followed.json()["query"] == "rust"
