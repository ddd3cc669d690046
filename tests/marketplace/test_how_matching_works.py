import pytest

from marketplace import examples
from tests.marketplace.test_order_book import words
from tests.workspaces.conftest import NOON


def test_the_example_is_what_the_rule_does():
    """
    Worked out by hand, 40 hours each: A saves 0.12 an hour, B too, C 0.02.
    """
    turns = [
        (turn.name, turn.region, turn.price and str(turn.price.amount))
        for turn in examples.turns(NOON)
    ]

    assert turns == [
        ("A", "Frankfurt", "0.33"),
        ("B", "Paris", "0.33"),
        ("C", "Frankfurt", "0.40"),
        ("D", "", None),
    ]
    returned = [turn.returned for turn in examples.turns(NOON)]
    assert [money and str(money.amount) for money in returned] == [
        "4.80",
        "4.80",
        "0.80",
        None,
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["", "/es", "/id"])
def test_the_page_shows_it(client, language):
    page = words(client.get(f"{language}/how-matching-works/"))

    assert "A" in page
    assert {"": "$4.80", "/es": "4,80 US$", "/id": "US$4,80"}[language] in page
