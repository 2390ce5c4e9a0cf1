"""What of an HTML page is content, and how it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from responsa.retrieval.readers import SimpleDirectoryReader
from responsa.retrieval.readers.html_attributes import MOST_ATTRIBUTES, without_long_tags
from responsa.schema.nodes import Document


def page(directory: Path, body: str, head: str = "") -> Document:
    (directory / "page.html").write_text(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>")
    (document,) = SimpleDirectoryReader(directory).load_data()
    return document


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>one\n  two</p><p>three<br>four</p>", "one two\n\nthree\nfour"),
        ("<h2>A <em>title</em></h2>text", "## A title\n\ntext"),
        ("<div>one<div>two</div>three</div>", "one\n\ntwo\n\nthree"),
        ("<p>使用<code>cargo</code>命令</p>", "使用cargo命令"),
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<ol><li>a</li><li>b <ul><li>c</li></ul></li></ol>", "1. a\n2. b\n  - c"),
        ("<ul><li><p>a</p><p>b</p></li></ul>", "- a b"),
        ("<ul><li>run:<pre>code</pre></li></ul>", "run:\n\n```\ncode\n```"),
        ("<pre>  x = 1\n\n  y</pre>", "```\n  x = 1\n\n  y\n```"),
        ("<pre>```\ninner\n```</pre>", "````\n```\ninner\n```\n````"),
        ("<dl><dt>term</dt><dd>meaning</dd></dl>", "term\n\nmeaning"),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td></tr></table>", "| a | b |\n| --- | --- |\n| 1 |  |"),
        ("<table><caption>Sizes</caption><tr><td>a<td>b</table>", "Sizes\n\n| a | b |\n| --- | --- |"),
        ("<table><tr><td><h2>Laid out</h2><p>text</p></td></tr></table>", "## Laid out\n\ntext"),
        ("<blockquote>said</blockquote>&lt;b&gt; &amp; &#20013;", "said\n\n<b> & 中"),
        ("<p>a</p><!-- comment --><p hidden>b</p><p style='display: none'>c</p><p aria-hidden=true>d</p>", "a"),
        ("<script>s</script><style>s</style><template>t</template><svg><text>v</text></svg>a", "a"),
        ("<header>Site<nav>Home</nav></header><header><h1>Title</h1></header>text", "# Title\n\ntext"),
        ("<div class='site-nav'>Home</div><div id=cookie-banner>Yes?</div><p>" + "text " * 20, "text " * 19 + "text"),
        ("<div role=navigation>Home</div><footer>2024</footer>text", "text"),
        ("<div class=related>" + "all there is " * 9 + "</div>", "all there is " * 8 + "all there is"),
        ("<p>teaser</p><main>" + "content " * 9 + "</main>", "content " * 8 + "content"),
        ("<p>" + "text " * 50 + "</p><main>tiny</main>", "text " * 49 + "text\n\ntiny"),
        ("<article>one</article><article>two</article>", "one\n\ntwo"),
    ],
)
def test_content_is_written_as_markdown(tmp_path: Path, body: str, text: str) -> None:
    assert page(tmp_path, body).text == text


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Page - Site</title>", "<h1>Page</h1>text", "Page"),
        ("<title>Page -\n Site</title>", "text", "Page - Site"),
        ("<title>Page</title>", "<h1>A</h1><h1>B</h1>", "Page"),
        ("<meta property='og:title' content='Shared'><title>Page</title>", "text", "Shared"),
        ("", "text", "page"),
    ],
)
def test_the_title_is_the_only_top_heading_or_the_heads(tmp_path: Path, head: str, body: str, title: str) -> None:
    assert page(tmp_path, body, head).metadata["title"] == title


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("<link rel=canonical href='https://example.org/a'>", "https://example.org/a"),
        ("<meta property='og:url' content='http://example.org/'>", "http://example.org/"),
        ("<link rel=canonical href='javascript:alert(1)'>", None),
        ("<link rel=canonical href='/relative'>", None),
    ],
)
def test_the_address_is_kept_where_the_page_names_a_web_address(tmp_path: Path, link: str, url: str | None) -> None:
    assert page(tmp_path, "text", link).metadata.get("url") == url


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "body",
    ["<div>" * 20_000 + "text", "<p>a" * 50_000, "<" * 200_000 + "p>text", "<!--" * 50_000 + "text", "<a b='" * 9_000],
)
def test_pages_of_nothing_but_structure_are_read_or_refused_soon(tmp_path: Path, body: str) -> None:
    (tmp_path / "page.html").write_text(f"<html><body><p>first</p>{body}")
    reader = SimpleDirectoryReader(tmp_path)
    reader.load_data()
    assert len(reader.report.files) == 1


def test_what_stands_after_a_very_deep_part_is_read_with_it(tmp_path: Path) -> None:
    deep = "<font>" * 300 + "deep" + "<blockquote>" * 300 + "deeper" + "</blockquote>" * 300 + "</font>" * 300
    (tmp_path / "page.html").write_text(f"<html><body><p>first</p>{deep}<p>last</p></body></html>")
    (document,) = SimpleDirectoryReader(tmp_path).load_data()
    assert document.text.split() == ["first", "deep", "deeper", "last"]


def test_a_page_of_too_many_tags_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("responsa.retrieval.readers.html.MOST_TAGS", 10)
    (tmp_path / "page.html").write_text("<html><body>" + "<p>a" * 9)
    reader = SimpleDirectoryReader(tmp_path)
    assert reader.load_data() == []
    assert "more than 10 tags" in reader.report.render()


@pytest.mark.parametrize(
    "attributes",
    [
        " ".join(f"a{number}={number}" for number in range(100_000)),
        " ".join(f"a{number}='>'" for number in range(100_000)),
        "".join(f"/a{number}" for number in range(100_000)),
    ],
    ids=["bare", "quoted", "slashes"],
)
def test_a_tag_of_a_hundred_thousand_attributes_is_read_without_them(tmp_path: Path, attributes: str) -> None:
    assert page(tmp_path, f"<div {attributes}><p>What it says.</p></div>").text == "What it says."


def test_tags_with_many_words_in_an_attribute_are_left_as_they_are() -> None:
    text = f"<p title='{'word ' * 5000}' class=x>a <b</p> if a<b and c < d <a href=\"{'x' * 9000}\">y</a>"
    assert without_long_tags(text) == text
    assert without_long_tags("<p" + " a=1" * MOST_ATTRIBUTES + ">") == "<p" + " a=1" * MOST_ATTRIBUTES + ">"
    assert without_long_tags("<p" + " a=1" * (MOST_ATTRIBUTES + 1) + " >x") == "<p >x"


@pytest.mark.parametrize("part", ["<a b='", "<", "<a ", '<a "', "<a/", "<a b=c/"])
def test_what_is_no_whole_tag_is_looked_at_once(part: str) -> None:
    assert len(without_long_tags(part * 200_000)) <= len(part) * 200_000
