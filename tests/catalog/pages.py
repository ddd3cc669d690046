"""
Reads what a page shows: its text and its tables, without tags.
"""

import html
import re

from django.http import HttpResponse

TAG = re.compile(r"<[^>]+>")


def text_of(page: HttpResponse) -> str:
    """
    Return the visible words of a page on one line.
    """
    return words(page.content.decode())


def tables_of(page: HttpResponse) -> list[list[list[str]]]:
    """
    Return the cells of every body row of every table.
    """
    bodies = re.findall(r"<tbody.*?</tbody>", page.content.decode(), re.DOTALL)
    return [
        [
            [words(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
            for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL)
        ]
        for body in bodies
    ]


def words(source: str) -> str:
    """
    Return the text of a piece of HTML on one line, with plain spaces only.
    """
    plain = html.unescape(TAG.sub(" ", source))
    return re.sub(r"\s+", " ", plain).strip().replace(" .", ".").replace(" ,", ",")
