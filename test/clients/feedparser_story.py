"""A newcomer's story with feedparser, the library of many feed readers."""

import json
import os
from base64 import b64encode
from html import unescape
from urllib.request import Request, urlopen

from chapters import chapter
import feedparser

web = os.environ["BELFRY"]


def call(path, token, method="GET", body=None):
    # Addresses of private feeds are shown to Basic authentication only.
    basic = b64encode((token + ":x-oauth-basic").encode()).decode()
    headers = {"Authorization": "Basic " + basic, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(web + "/api/v3" + path, data, headers, method=method)) as answer:
        text = answer.read()
    return json.loads(text) if text else None


ada, ben = os.environ["ADA"], os.environ["BEN"]
print("version", feedparser.__version__, "(Debian)")
call("/user/repos", ada, "POST", {"name": "bell", "auto_init": True})
call("/user/repos", ada, "POST", {"name": "vault", "private": True})
issue = call("/repos/ada/bell/issues", ben, "POST", {"title": "It is <silent> & old"})


@chapter("the timeline of a user")
def _():
    feed = feedparser.parse(web + "/ben.atom")
    assert feed.status == 200 and not feed.bozo, feed
    assert feed.version == "atom10", feed.version
    [entry] = feed.entries
    assert "ada/bell" in entry.title and entry.author == "ben", entry
    assert entry.link == web + "/ada/bell/issues/1", entry.link
    assert "It is &lt;silent&gt; &amp; old" in entry.content[0].value, entry
    assert entry.published_parsed.tm_year > 2000, entry.published


@chapter("a request that finds nothing new")
def _():
    first = feedparser.parse(web + "/ben.atom")
    assert feedparser.parse(web + "/ben.atom", etag=first.etag).status == 304
    assert feedparser.parse(web + "/ben.atom", etag='"another"').status == 200


@chapter("what a user receives, by the address with its token")
def _():
    address = call("/feeds", ada)["current_user_url"]
    feed = feedparser.parse(address)
    assert feed.status == 200 and not feed.bozo, feed
    assert any("ada/bell" in entry.title for entry in feed.entries), feed.entries
    assert feedparser.parse(address.split("?")[0]).status == 404


@chapter("commits and issues of a repository")
def _():
    [commit] = feedparser.parse(web + "/ada/bell/commits/main.atom").entries
    assert commit.link.startswith(web + "/ada/bell/commit/"), commit
    [found] = feedparser.parse(web + "/ada/bell/issues.atom").entries
    assert unescape(found.title) == "It is <silent> & old", found.title
    assert feedparser.parse(web + "/ada/vault/issues.atom").status == 404
