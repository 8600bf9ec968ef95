"""The documentation as a site: built strictly, complete, and without any request to another host."""

import html.parser
import os
import re
import subprocess

import pytest

from harness import PROGRAM, ROOT

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "object": "data"}


class Loads(html.parser.HTMLParser):
    """Collects what a page loads by itself; links are not among it."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in LOADING:
            self.found.append(attributes.get(LOADING[tag]) or "")
        if tag == "link" and attributes.get("rel") not in {"canonical", "next", "prev", "alternate"}:
            self.found.append(attributes.get("href") or "")
        self.found += re.findall(r"url\((.*?)\)", attributes.get("style") or "")


def build(folder):
    return subprocess.run(
        [ROOT / "tools" / "site" / "build", folder], env={**os.environ, "ENTITLED_PROGRAM": str(PROGRAM)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    result = build(folder)
    assert result.returncode == 0, result.stdout
    return folder


def test_no_page_loads_anything_from_another_host(site):
    for page in site.rglob("*.html"):
        loaded = [address for address in Loads(page.read_text()).found if re.match(r"(\w+:)?//", address)]
        assert not loaded, f"{page.relative_to(site)}: {loaded}"
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\(['\"]?(https?:)?//", style.read_text()), style


def test_no_page_shows_the_markup_of_a_list_table_or_fence(site):
    for page in site.rglob("*.html"):
        text = re.sub(r"<pre.*?</pre>", "", page.read_text(), flags=re.DOTALL)
        article = text[text.find("<article") : text.find("</article>")]
        assert not re.findall(r"\n *(?:- |\d+\. |```|\|)[^\n]{0,60}", article), page.relative_to(site)


def test_search_works_in_a_page_that_is_opened_from_the_folder(site, chromium):
    page = chromium.new_page()
    requests, errors = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(error))
    page.goto((site / "index.html").as_uri())
    page.click("input[name=query]")
    page.keyboard.type("renewal slack")  # with the events of keys, which the search waits for
    page.wait_for_selector(".md-search-result__item", timeout=60_000)
    assert "glossary" in page.inner_html(".md-search-result__list")
    assert not errors and all(url.startswith("file:") for url in requests), (errors, requests)


def test_the_reference_has_every_service_command_key_reason_and_event(site):
    def text(name):
        return (site / "reference" / name).read_text()

    for proto in (ROOT / "proto" / "entitled" / "v1").glob("*_service.proto"):
        page = text(f"contract/{proto.stem.replace('_', '-')}.html")
        for method in re.findall(r"^  rpc (\w+)\(", proto.read_text(), re.MULTILINE):
            assert f'-{method.lower()}"' in page, method
    assert "entitled notifications backfill" in text("command-line.html")
    assert "in_app_purchase_key" in text("configuration.html")
    assert {"SUBSCRIPTION_ACTIVE", "BAD_SIGNATURE"} <= set(re.findall(r"[A-Z_]+", text("reasons.html")))
    events = (ROOT / "docs" / "events.md").read_text()
    for code in re.findall(r"<code>([A-Z_]+)</code>", text("event-types.html")):
        assert f"`{code}`" in events, f"docs/events.md does not explain {code}"


def test_a_dead_link_or_anchor_fails_the_build(tmp_path):
    """In a copy, so that the tests that run at the same time read the real pages."""
    for name in ("docs", "mkdocs.yml"):
        subprocess.run(["cp", "-r", ROOT / name, tmp_path / name], check=True)
    for name in ("tools", "proto", "deploy", "clients", "Sources", "Tests", ".venv", *(p.name for p in ROOT.glob("*.md"))):
        (tmp_path / name).symlink_to(ROOT / name)
    page = tmp_path / "docs" / "idempotency.md"
    page.write_text(page.read_text() + "\n[gone](no-such-page.md) and [lost](glossary.md#no-such-term)\n")
    result = subprocess.run(
        [ROOT / ".venv" / "bin" / "python", "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"], cwd=tmp_path,
        env={**os.environ, "ENTITLED_PROGRAM": str(PROGRAM)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
    assert result.returncode != 0
    assert "no-such-page.md" in result.stdout and "no-such-term" in result.stdout
