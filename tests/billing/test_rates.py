import logging
import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from djmoney.money import Money

from billing import tasks
from billing.services import NoExchangeRate, convert
from billing.services.rates import (
    RatesDiffer,
    load_rates,
    load_shipped_rates,
    newest_rates,
)

pytestmark = pytest.mark.django_db

HEAD = "KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE"
FRIDAY = """\
EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-05-29,1.25
EXR.D.GBP.EUR.SP00.A,D,GBP,EUR,SP00,A,2026-05-29,0.8
EXR.D.JPY.EUR.SP00.A,D,JPY,EUR,SP00,A,2026-05-29,160.2"""
MONDAY = """\
EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-06-01,1.20
EXR.D.GBP.EUR.SP00.A,D,GBP,EUR,SP00,A,2026-06-01,0.84"""


def at(day, hour=12, month=6):
    return datetime(2026, month, day, hour, tzinfo=UTC)


def load(*days):
    return load_rates(lines="\n".join([HEAD, *days]).splitlines())


@pytest.mark.parametrize(
    ("amount", "currency", "converted", "rate"),
    [
        (Money("1", "EUR"), "USD", "1.25", "1.25"),
        (Money("1", "USD"), "EUR", "0.8", "0.8"),
        (Money("2.50", "USD"), "GBP", "1.6", "0.64"),
        (Money("0.34", "USD"), "EUR", "0.272", "0.8"),
        # 1.25 / 0.8 = 1.5625
        (Money("0.000001", "GBP"), "USD", "0.000002", "1.5625"),
    ],
)
def test_converts_through_the_euro(amount, currency, converted, rate):
    load(FRIDAY)

    answer = convert(amount=amount, currency=currency, at=at(1))

    assert answer.amount == Money(converted, currency)
    assert answer.rate == Decimal(rate)
    assert answer.as_of == datetime(2026, 5, 29, tzinfo=UTC)


def test_rate_is_rounded_half_up_to_six_decimals():
    load(MONDAY)

    # 0.84 / 1.20 = 0.7 and 1 / 0.84 = 1.190476190...
    assert convert(amount=Money(1, "GBP"), currency="EUR", at=at(1)).rate == Decimal(
        "1.190476"
    )


def test_same_currency_needs_no_rate():
    answer = convert(amount=Money("0.3333", "USD"), currency="USD", at=at(1))

    assert (answer.amount, answer.rate, answer.as_of) == (
        Money("0.3333", "USD"),
        1,
        at(1),
    )


def test_newest_day_that_has_come_counts():
    load(MONDAY, FRIDAY)
    one = Money(1, "EUR")

    rates = [
        convert(amount=one, currency="USD", at=moment).rate
        for moment in (at(31, 23, month=5), at(1, 0), at(9))
    ]

    assert rates == [Decimal("1.25"), Decimal("1.2"), Decimal("1.2")]


def test_no_rates_are_said_to_be_missing():
    with pytest.raises(NoExchangeRate, match="from USD to EUR"):
        convert(amount=Money(1, "USD"), currency="EUR", at=at(1))

    load(FRIDAY)
    with pytest.raises(NoExchangeRate):
        convert(amount=Money(1, "USD"), currency="JPY", at=at(1))
    with pytest.raises(NoExchangeRate):
        convert(amount=Money(1, "USD"), currency="EUR", at=at(28, month=5))


def test_a_day_is_stored_once():
    assert load(FRIDAY, MONDAY) == 2
    assert load(FRIDAY, MONDAY) == 0


def test_a_day_never_changes():
    load(FRIDAY)

    with pytest.raises(RatesDiffer, match="2026-05-29"):
        load(FRIDAY.replace("1.25", "1.26"))

    assert newest_rates(at=at(1)).rates["USD"] == Decimal("1.25")


@pytest.mark.parametrize(
    "line",
    [
        "k,D,USD,EUR,SP00,A,2026-05-29,much",
        "k,D,USD,EUR,SP00,A,2026-05-29,0",
        "k,D,USD,EUR,SP00,A,2026-05-29,-1",
        "k,D,USD,EUR,SP00,A,2026-05-29,NaN",
    ],
)
def test_rates_that_are_no_numbers_are_refused(line):
    with pytest.raises(ValueError, match="is not a rate"):
        load(line)

    assert newest_rates(at=at(1)) is None


@pytest.mark.parametrize("lines", [[], ["a,b", "1,2"], ["<html>"]])
def test_other_files_are_refused(lines):
    with pytest.raises(ValueError, match="not a file"):
        load_rates(lines=lines)
    with pytest.raises(ValueError, match="isoformat"):
        load("k,D,USD,EUR,SP00,A,29.05.2026,1.25")

    assert newest_rates(at=at(1)) is None


def test_people_see_source_date_and_age():
    load(FRIDAY)

    seen = newest_rates(at=at(1))

    assert (seen.source, seen.as_of) == ("ECB", datetime(2026, 5, 29, tzinfo=UTC))
    assert seen.age == timedelta(days=3, hours=12)
    assert seen.rates == {"EUR": 1, "USD": Decimal("1.25"), "GBP": Decimal("0.8")}


def test_demo_has_one_dated_set():
    assert load_shipped_rates() == 1
    assert load_shipped_rates() == 0

    assert newest_rates(at=at(1)).as_of == datetime(2024, 12, 31, tzinfo=UTC)


# --- command and task


@pytest.fixture
def bank(settings):
    """
    A server on this machine that answers as the European Central Bank does.
    """
    answer = {"status": 200, "body": f"{HEAD}\n{FRIDAY}\n"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(answer["status"])
            self.end_headers()
            self.wfile.write(answer["body"].encode())

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever).start()
    settings.EXCHANGE_RATES_URL = f"http://127.0.0.1:{server.server_port}/"
    yield answer
    server.shutdown()
    server.server_close()


def test_command_asks_the_bank(bank):
    out = StringIO()

    call_command("load_rates", stdout=out)

    assert out.getvalue() == "1 new days of exchange rates\n"


def test_command_reads_a_file(tmp_path):
    file = tmp_path / "rates.csv"
    file.write_text(f"{HEAD}\n{MONDAY}\n")

    call_command("load_rates", str(file), stdout=StringIO())

    assert newest_rates(at=at(1)).as_of == at(1, 0)


def test_command_says_what_is_wrong(tmp_path):
    with pytest.raises(CommandError, match="No such file"):
        call_command("load_rates", str(tmp_path / "none.csv"))


def test_task_asks_the_bank(bank, settings):
    settings.DEMO = False

    tasks.load_rates()

    assert newest_rates(at=at(1)) is not None


@pytest.mark.parametrize(
    "change",
    [{"status": 500}, {"status": 302}, {"body": "<html>"}, {"body": "a,b\n1,2"}],
)
def test_task_outlives_a_bank_that_answers_wrongly(bank, settings, caplog, change):
    settings.DEMO = False
    bank |= change

    with caplog.at_level(logging.ERROR):
        tasks.load_rates()

    assert "Could not load the exchange rates" in caplog.text
    assert newest_rates(at=at(1)) is None


def test_task_leaves_the_demo_alone(bank):
    tasks.load_rates()

    assert newest_rates(at=at(1)) is None
