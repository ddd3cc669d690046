"""
What becomes of each line of a file of prices, and why one is refused.
"""

from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from djmoney.money import Money

from catalog.models import GpuModel, Offer, OfferPrice, Region, Supplier
from catalog.price_files import read_lines, written_lines
from catalog.price_plans import Outcome, plan_prices
from catalog.services import set_prices
from catalog.uploads import FileRefused, decode

HEAD = "supplier,gpu,region,gpus_per_node,hourly_price,currency,valid_from,reason\n"
KEY = "acme,test-gpu,eu-north,1"


@pytest.fixture
def at(now):
    """
    An hour after the prices of the offers began.
    """
    return now + timedelta(hours=1)


@pytest.fixture
def plan(at):
    def plan(*rows, head=HEAD):
        return plan_prices(read_lines(head + "\n".join(rows)), at=at)

    return plan


@pytest.fixture
def outcome(plan):
    def outcome(row):
        [planned] = plan(row).rows
        return planned.outcome, planned.refusal

    return outcome


def test_says_what_is_changed_and_what_is_not(make_offer, plan, at):
    make_offer()
    make_offer(gpus_per_node=8, price="0.38")
    make_offer(gpus_per_node=4, price=None)

    found = plan(
        "acme,test-gpu,eu-north,1,0.40,USD,,",
        "acme,test-gpu,eu-north,8,0.36,USD,,",
        "acme,test-gpu,eu-north,4,0.39,USD,,",
    )

    assert [row.outcome for row in found.rows] == ["unchanged", "changed", "added"]
    changed = found.rows[1]
    assert (changed.before.price, changed.line.price) == (
        Money("0.38", "USD"),
        Money("0.36", "USD"),
    )
    assert changed.valid_from == at
    assert found.can_be_saved


# The one price of the GPU is 0.40 USD: 60 % off is 0.16 to 0.64.
@pytest.mark.parametrize(
    ("row", "why"),
    [
        pytest.param(f"{KEY},,USD,,", "The price is missing.", id="empty"),
        pytest.param(f'{KEY},"0,41",USD,,', "with a decimal point", id="M81 comma"),
        pytest.param(f"{KEY},0,41,USD,,", "more cells than", id="comma, not quoted"),
        pytest.param(f"{KEY},-0.41,USD,,", "more than zero", id="negative"),
        pytest.param(f"{KEY},0,USD,,", "more than zero", id="zero"),
        pytest.param(f"{KEY},0.4100001,USD,,", "at most 6 decimals", id="decimals"),
        pytest.param(f"{KEY},1e3,USD,,", "This is not a price", id="exponent"),
        pytest.param(f"{KEY},٠.٤,USD,,", "This is not a price", id="other digits"),
        pytest.param(f"{KEY},0.41,CHF,,", "no currency “CHF”", id="currency"),
        pytest.param(f"{KEY},0.41,,,", "no currency “”", id="no currency"),
        pytest.param(f"{KEY},0.41,EUR,,", "Nobody asks", id="slip of the currency"),
        pytest.param(f"{KEY},0.65,USD,,", "more than 60% away from $0.40", id="dear"),
        pytest.param(f"{KEY},0.15,USD,,", "more than 60% away", id="cheap"),
        pytest.param("amce,test-gpu,eu-north,1,0.41,USD,,", "no supplier “amce”"),
        pytest.param("acme,test,eu-north,1,0.41,USD,,", "no gpu “test”"),
        pytest.param("acme,test-gpu,eu-nord,1,0.41,USD,,", "no region “eu-nord”"),
        pytest.param("acme,test-gpu,eu-north,2,0.41,USD,,", "no such offer"),
        pytest.param("acme,test-gpu,eu-north,one,0.41,USD,,", "whole number"),
        pytest.param(f"{KEY},0.41,USD,2026-11-29T00:00Z,", "in the past"),
        pytest.param(f"{KEY},0.41,USD,2027-01-31,", "2027-01-31T00:00Z", id="no zone"),
        pytest.param(f"{KEY},0.41,USD,soon,", "2027-01-31T00:00Z", id="no time"),
        pytest.param(f"{KEY},0.41,USD,,{'x' * 201}", "longer than 200"),
        pytest.param(f"{KEY},0.41", "fewer cells"),
    ],
)
def test_says_why_a_line_is_refused(offer, outcome, row, why):
    found, refusal = outcome(row)

    assert found == Outcome.REFUSED
    assert why in refusal
    assert offer.prices.count() == 1


def test_a_reason_lets_an_unlikely_price_wait_for_a_second_person(offer, plan):
    [row] = plan(f"{KEY},4.00,USD,,A new contract").rows

    assert row.outcome == Outcome.WAITING


def test_a_change_of_currency_needs_a_reason_even_where_others_ask_in_it(
    make_offer, plan
):
    make_offer()
    make_offer(gpus_per_node=8, price="0.35", currency="EUR")

    refused, meant = (
        plan(f"{KEY},0.35,EUR,,{reason}").rows[0] for reason in ["", "In euros now"]
    )

    assert "priced in USD" in refused.refusal
    assert refused.needs_reason
    assert meant.outcome == Outcome.CHANGED


def test_refuses_the_second_line_of_an_offer(offer, plan):
    first, second = plan(f"{KEY},0.41,USD,,", f"{KEY},0.42,USD,,").rows

    assert first.outcome == Outcome.CHANGED
    assert second.refusal == "Line 2 sets the price of this offer already."


def test_takes_a_price_of_now_and_one_that_is_scheduled(offer, now, at):
    lines = read_lines(
        f"{HEAD}{KEY},0.42,USD,2026-12-02T00:00:00+01:00,\n{KEY},0.41,USD,,"
    )

    done = set_prices(lines=lines, actor=None, at=at)

    assert len(done.written) == 2
    assert offer.hourly_price(now) == Money("0.40", "USD")
    assert offer.hourly_price(at) == Money("0.41", "USD")
    start = now.replace(month=12, day=1, hour=23)
    assert offer.hourly_price(start - timedelta(seconds=1)) == Money("0.41", "USD")
    assert offer.hourly_price(start) == Money("0.42", "USD")


def test_says_until_when_a_price_holds_if_another_is_scheduled(offer, plan, at):
    tomorrow = at + timedelta(days=1)
    set_prices(
        lines=read_lines(f"{HEAD}{KEY},0.42,USD,{tomorrow.isoformat()},"),
        actor=None,
        at=at,
    )

    now_row, clash = (
        plan(row).rows[0]
        for row in [
            f"{KEY},0.41,USD,,",
            f"{KEY},0.43,USD,{tomorrow.isoformat()},",
        ]
    )

    assert now_row.follows.price == Money("0.42", "USD")
    assert "starts at this moment exists already" in clash.refusal


def test_counts_the_lines_as_an_editor_does(offer, plan):
    rows = plan(f'{KEY},0.41,USD,,"two\nlines"', "", f"{KEY},x,USD,,").rows

    assert [row.line.number for row in rows] == [3, 5]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "columns are missing"),
        (HEAD, "no lines below"),
        ("supplier,gpu\nacme,test-gpu\n", "region, gpus_per_node, hourly_price, curr"),
        (HEAD.replace(",", ";") + "x", "semicolons"),
        (HEAD + f'{KEY},"0.41,USD,,', "not a CSV file"),
    ],
)
def test_refuses_what_is_no_file_of_prices(db, text, why):
    with pytest.raises(FileRefused, match=why):
        read_lines(text)


def test_refuses_more_lines_than_it_says(db, monkeypatch):
    monkeypatch.setattr("catalog.uploads.MOST_LINES", 1)

    with pytest.raises(FileRefused, match="more than 20,000 lines"):
        read_lines(HEAD + f"{KEY},0.41,USD,,\n" * 2)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"a\0b", "not a CSV file"),
        (b"x" * 2_000_001, "larger than 2 MB"),
    ],
)
def test_refuses_what_is_no_text(content, why):
    with pytest.raises(FileRefused, match=why):
        decode(content)


def test_reads_the_mark_that_spreadsheets_put_in_front():
    assert decode(b"\xef\xbb\xbfsupplier") == "supplier"


def test_columns_may_come_in_any_order_and_with_others(offer, plan):
    head = "note,currency,hourly_price,gpus_per_node,region,gpu,supplier\n"

    [row] = plan("x,USD,0.41,1,eu-north,test-gpu,acme", head=head).rows

    assert row.line.price == Money("0.41", "USD")


def test_what_is_written_can_be_read_and_changes_nothing(catalog, now):
    offer = Offer.objects.get(supplier__slug="everxcloud", gpu__slug="h100-sxm")
    tomorrow = (now + timedelta(days=1)).isoformat()
    line = f"everxcloud,h100-sxm,eu-central-frankfurt,1,2.9,USD,{tomorrow},=1+1"
    set_prices(lines=read_lines(HEAD + line), actor=None, at=now)

    text = "".join(written_lines(at=now))
    plan = plan_prices(read_lines(text), at=now + timedelta(hours=1))

    assert plan.counts == {Outcome.UNCHANGED: OfferPrice.objects.count()}
    assert offer.prices.get(hourly_price=Decimal("2.9")).reason == "=1+1"
    assert "=1+1" not in text, "an old reason would let a slip of the hand pass"


def test_what_is_written_has_an_empty_price_where_there_is_none(make_offer, now):
    make_offer(price=None)

    text = "".join(written_lines(at=now))

    assert text == HEAD.replace("\n", "\r\n") + f"{KEY},,,,\r\n"


def test_a_second_import_changes_nothing(offer, at):
    """R41: an import is found by its natural key, not added again."""
    lines = read_lines(f"{HEAD}{KEY},0.41,USD,,")
    set_prices(lines=lines, actor=None, at=at)

    again = set_prices(lines=lines, actor=None, at=at + timedelta(minutes=1))

    assert again.counts == {Outcome.UNCHANGED: 1}
    assert offer.prices.count() == 2


@pytest.fixture
def file(tmp_path):
    def write(*rows):
        path = tmp_path / "prices.csv"
        path.write_text(HEAD + "\n".join(rows))
        return str(path)

    return write


@pytest.fixture
def _an_hour_later(at):
    with time_machine.travel(at, tick=False):
        yield


@pytest.mark.usefixtures("_an_hour_later")
def test_command_shows_first_and_applies_when_it_is_told(offer, file, capsys, at):
    path = file(f"{KEY},0.41,USD,,")

    call_command("import_prices", path)
    assert offer.prices.count() == 1
    call_command("import_prices", path, "--apply")

    said = capsys.readouterr().out
    assert (
        said == "Prices: 0 added, 1 changed, 0 waiting, 0 unchanged, 0 refused.\n" * 2
    )
    assert offer.hourly_price(at) == Money("0.41", "USD")
    assert offer.prices.get(valid_to=None).created_by is None


@pytest.mark.usefixtures("_an_hour_later")
@pytest.mark.parametrize("options", [[], ["--apply"]])
def test_command_fails_and_changes_nothing_if_one_line_is_refused(
    make_offer, file, capsys, options
):
    make_offer()
    make_offer(gpus_per_node=8)
    path = file(f"{KEY},0.41,USD,,", "acme,test-gpu,eu-north,8,-1,USD,,")

    with pytest.raises(CommandError):
        call_command("import_prices", path, *options)

    assert capsys.readouterr().out == (
        "line 3: A price is more than zero.\n"
        "Prices: 0 added, 1 changed, 0 waiting, 0 unchanged, 1 refused.\n"
    )
    assert OfferPrice.objects.count() == 2


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_command_says_that_there_is_no_such_file(db, tmp_path, name):
    with pytest.raises(CommandError):
        call_command("import_prices", str(tmp_path / name))


@pytest.fixture
def many(gpu, now):
    """
    A thousand offers at 0.40 USD, with the lines that lower each by a cent.
    """
    regions = [
        Region.objects.create(slug=f"r{n}", name=f"R{n}", city="x", country="FR")
        for n in range(10)
    ]
    lines = []
    for number in range(100):
        supplier = Supplier.objects.create(slug=f"s{number}", name=f"S{number}")
        for region in regions:
            offer = Offer.objects.create(
                supplier=supplier,
                gpu=gpu,
                region=region,
                nodes=1,
                free_nodes=1,
                listed_at=now,
            )
            OfferPrice.objects.create(
                offer=offer,
                hourly_price=Money("0.40", "USD"),
                valid_from=now,
                confirmed_at=now,
                created_at=now,
            )
            lines.append(f"{supplier.slug},{gpu.slug},{region.slug},1,0.39,USD,,")
    return HEAD + "\n".join(lines)


def test_asks_as_many_queries_for_a_thousand_lines_as_for_one(many, at):
    with CaptureQueriesContext(connection) as for_one:
        plan_prices(read_lines("\n".join(many.splitlines()[:2])), at=at)

    with CaptureQueriesContext(connection) as for_all:
        plan = plan_prices(read_lines(many), at=at)

    assert plan.counts == {Outcome.CHANGED: 1000}
    assert len(for_all) == len(for_one) == 8
    assert GpuModel.objects.count() == 1
