"""Bodies as HTML, where the site and the page of `render` have the same needs."""

from __future__ import annotations

import re
import sys

from okf_catalog.views.body_html import to_html


def ids(markdown: str) -> list[str]:
    return re.findall(r'<h\d id="([^"]*)"', to_html(markdown, lambda target: None))


def test_headings_have_the_ids_that_links_use():
    assert ids("# On time, *always*\n\n## `by_day`\n\n### Später") == ["on-time-always", "by_day", "später"]


def test_headings_of_one_name_are_told_apart():
    assert ids("# A\n\n## A\n\n# A-1\n\n# A\n\n# A-1") == ["a", "a-1", "a-1-1", "a-2", "a-1-2"]


def test_the_work_for_many_headings_of_one_name_grows_with_their_number():
    """Counted in lines of our own module that run, so a busy machine is no failure."""

    def lines(number: int) -> int:
        count = 0

        def trace(frame, event, arg):
            nonlocal count
            if not frame.f_code.co_filename.endswith("body_html.py"):
                return None
            count += event == "line"
            return trace

        text = "# a\n\n" * number
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            to_html(text, lambda target: None)
        finally:
            sys.settrace(before)
        return count

    lines(1)  # the parser itself is made once
    assert lines(400) < 5 * lines(100)
