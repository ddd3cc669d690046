import pytest

from catalog.templatetags.guides import prose


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("One line.", "<p>One line.</p>"),
        ("Two\nlines.", "<p>Two lines.</p>"),
        ("One.\n\nTwo.\n", "<p>One.</p>\n<p>Two.</p>"),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        (
            "Do:\n- a\n- b\nThen.",
            "<p>Do:</p>\n<ul><li>a</li><li>b</li></ul>\n<p>Then.</p>",
        ),
        ("<script>", "<p>&lt;script&gt;</p>"),
        ("- <b>", "<ul><li>&lt;b&gt;</li></ul>"),
        ("", ""),
    ],
)
def test_writes_paragraphs_and_lists(text, html):
    assert prose(text) == html
