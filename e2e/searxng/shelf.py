"""An engine that answers from a shelf of made-up results, without any network.

Each engine of the test instances is this module with another `kind`, set in the instance's settings. The results depend
on nothing but the request, so that two askers of one instance can be compared.
"""

import time

engine_type = "offline"
categories = ["general"]
about = {}
kind = "web"
delay = 0.0


def search(query, params):
    """One result list; SearXNG adds the keys an engine leaves out."""
    time.sleep(delay)
    page = params.get("pageno", 1)
    context = f"page {page}, {params.get('time_range')}, {params.get('safesearch')}, {params.get('language')}"
    return KINDS[kind](query, page, context)


def web(query, page, context):
    if query == "zeroresults":
        return []
    return [
        {
            "url": f"https://shelf.example/{page}/{rank}?q={len(query)}",
            "title": f"Shelf {rank} – {query} <b>&amp;</b> 日本語 😀",
            "content": f"About {query}: {context}. Line {rank}\twith \"quotes\" and \\ backslash.",
            "novelty": 1.0 if rank % 2 else 1e-07,
            "big": 123456789012345678901234567890,
        }
        for rank in range(1, 9)
    ]


def wide(query, page, context):
    found = [
        {"url": "http://shelf.example/1/1?q=4", "title": "The same over http", "content": "A longer text of the same page."},
        {"url": "https://wide.example/a b?x=1&y=2#part", "title": "  Blanks \n folded ", "content": "t"},
        {"url": "https://bücher.example/ä", "title": "Umlaut", "content": None},
        {"url": "https://wide.example/none", "title": None, "content": "No title"},
        {"url": "ftp://wide.example/file", "title": "Not http", "content": ""},
    ]
    return found + [
        {"url": f"https://wide.example/{page}/{rank}", "title": f"Wide {rank}", "content": context} for rank in range(1, 13)
    ]


def images(query, page, context):
    return [
        {
            "url": f"https://images.example/{rank}",
            "title": f"Picture {rank} of {query}",
            "content": context,
            "img_src": f"https://images.example/{rank}.png",
            "thumbnail_src": f"https://images.example/{rank}.s.png",
            "resolution": "800 x 600",
            "template": "images.html",
        }
        for rank in range(1, 5)
    ]


def videos(query, page, context):
    return [
        {
            "url": f"https://videos.example/{rank}",
            "title": f"Film {rank}",
            "content": context,
            "length": "10:31" if rank % 2 else None,
            "thumbnail": f"https://videos.example/{rank}.jpg",
            "iframe_src": f"https://videos.example/embed/{rank}",
            "template": "videos.html",
        }
        for rank in range(1, 4)
    ]


def torrents(query, page, context):
    return [
        {
            "url": "https://files.example/1",
            "title": "A file",
            "content": context,
            "seed": "12",
            "leech": 3,
            "filesize": "1.2 GB",
            "magnetlink": "magnet:?xt=urn:btih:0",
            "template": "torrent.html",
        }
    ]


def answers(query, page, context):
    return [
        {"answer": f"The answer to {query} is 42"},
        {"suggestion": f"{query} tutorial"},
        {"suggestion": f"{query} é"},
        {"correction": "corrected"},
        {
            "infobox": "A box",
            "id": "https://box.example/",
            "content": "Text of the box",
            "urls": [{"title": "Official", "url": "https://box.example/"}],
            "attributes": [{"label": "Born", "value": "1815"}],
        },
    ]


def crash(query, page, context):
    raise RuntimeError("made to crash")


KINDS = {
    "web": web,
    "wide": wide,
    "images": images,
    "videos": videos,
    "torrents": torrents,
    "answers": answers,
    "crash": crash,
}
