from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection, transaction
from djmoney.money import Money

from billing.models import Account, Hold
from billing.services import InsufficientFunds
from billing.services.rates import load_rates
from catalog.services import set_price
from tests.workspaces.conftest import (
    DAY,
    HOUR,
    MINUTE,
    NOON,
    hold_on,
    matched_at,
    pay_in,
    started_at,
    usd,
    wallet_of,
)
from workspaces import services
from workspaces.models import Quote, State, Workspace, WorkspaceEvent


def test_holds_what_the_quote_says(quote):
    workspace = services.fund_workspace(
        user=quote.user, quote_id=quote.pk, at=NOON + MINUTE
    )

    assert workspace.state == State.FUNDED
    assert hold_on(workspace).amount == usd("18.33")
    assert hold_on(workspace).reference == f"workspace:{quote.pk}"
    assert wallet_of(quote.user).available == usd("81.67")
    assert wallet_of(quote.user).held == usd("18.33")


def test_records_everything_that_was_asked_for(quote, funded):
    assert funded.terms() == quote.terms()


def test_writes_who_funded_it(funded):
    event = funded.events.get()

    assert (event.state, event.actor, event.at) == (State.FUNDED, funded.user, NOON)


def test_marks_the_quote_as_used(quote):
    services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON + MINUTE)

    assert Quote.objects.get().used_at == NOON + MINUTE


def test_returns_the_same_workspace_for_the_same_quote(quote):
    first, second = (
        services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON + MINUTE)
        for _click in range(2)
    )

    assert first == second
    assert Hold.objects.count() == Workspace.objects.count() == 1
    assert first.events.count() == 1


def test_returns_it_even_when_the_quote_has_expired_since(quote, funded):
    again = services.fund_workspace(
        user=quote.user, quote_id=quote.pk, at=NOON + 2 * HOUR
    )

    assert again == funded


def test_returns_it_after_it_was_cancelled(quote, funded):
    services.cancel_workspace(workspace_id=funded.pk, actor=quote.user, at=NOON)

    again = services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON)

    assert again.state == State.CANCELLED
    assert wallet_of(quote.user).held == usd(0)


def test_accepts_the_last_moment_of_a_quote(quote):
    at = NOON + 15 * MINUTE - MINUTE / 60

    workspace = services.fund_workspace(user=quote.user, quote_id=quote.pk, at=at)

    assert workspace.state == State.FUNDED


def test_refuses_an_expired_quote(quote):
    with pytest.raises(services.QuoteExpired, match="everything you entered is kept"):
        services.fund_workspace(
            user=quote.user, quote_id=quote.pk, at=NOON + 15 * MINUTE
        )

    assert not Workspace.objects.exists()
    assert wallet_of(quote.user).available == usd(100)


def test_refuses_a_wallet_that_is_short(make_quote):
    # 300 h at 0.33 are 99.00; 200 GB for 300 h and 7 days are 11.54.
    quote = make_quote(hours=300)

    with pytest.raises(InsufficientFunds) as caught:
        services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON)

    assert caught.value.shortfall == usd("10.54")
    assert not Workspace.objects.exists()
    assert Quote.objects.get().used_at is None
    assert wallet_of(quote.user).available == usd(100)


def test_refuses_a_quote_of_somebody_else(quote, stranger):
    with pytest.raises(Quote.DoesNotExist):
        services.fund_workspace(user=stranger, quote_id=quote.pk, at=NOON)

    assert not Workspace.objects.exists()


def test_keeps_its_price_when_the_catalog_changes(funded, offer, staff):
    set_price(
        offer_id=offer.pk,
        hourly_price=usd("0.30"),
        valid_from=NOON + MINUTE,
        actor=staff,
        at=NOON + MINUTE,
    )

    workspace = Workspace.objects.get()

    assert workspace.limit_price == usd("0.33")
    assert hold_on(workspace).amount == usd("18.33")


def test_never_pays_more_than_its_limit(funded, offer):
    with pytest.raises(services.PriceOverLimit):
        matched_at(funded, offer, price="0.330001")

    assert Workspace.objects.get().hourly_price is None


def test_books_everything_in_the_currency_of_the_wallet(make_quote, rates, offer):
    quote = make_quote(currency="EUR")
    pay_in(quote.user, "20", currency="EUR")
    funded = services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON)
    assert wallet_of(quote.user, "EUR").held == Money("14.66", "EUR")
    load_rates(
        lines=[
            "CURRENCY,CURRENCY_DENOM,TIME_PERIOD,OBS_VALUE",
            "USD,EUR,2026-11-30,1.00",
        ]
    )

    # The market matches an ask in dollars, days later: the frozen rate counts.
    running = started_at(matched_at(funded, offer), at=NOON + 2 * DAY)
    services.stop_workspace(
        workspace_id=running.pk, actor=None, at=NOON + 2 * DAY + HOUR, keep_data=False
    )

    # An hour: 0.264 and 200 x 0.072 / 730 = 0.0197.
    assert running.hourly_price == Money("0.264", "EUR")
    assert wallet_of(quote.user, "EUR").available == Money("19.72", "EUR")
    assert wallet_of(quote.user).available == usd(100)
    payable = Account.objects.get(kind="PAYABLE", party="supplier:everxcloud")
    # Fees of 0.026 and 0.002 are rounded to 0.03 and 0.00.
    assert payable.balance == Money("0.25", "EUR")


def test_a_price_in_a_currency_without_a_frozen_rate_is_never_taken(funded, offer):
    services.queue_funded(at=NOON)

    with pytest.raises(services.PriceOverLimit):
        services.match_workspace(
            workspace_id=funded.pk,
            offer_id=offer.pk,
            hourly_price=Money("0.01", "GBP"),
            at=NOON,
        )

    assert Workspace.objects.get().state == State.QUEUED


def test_a_crash_after_the_hold_leaves_nothing_behind(quote, monkeypatch):
    def crash(**fields):
        raise RuntimeError("killed")

    with monkeypatch.context() as broken:
        broken.setattr(WorkspaceEvent.objects, "create", crash)
        with pytest.raises(RuntimeError, match="killed"), transaction.atomic():
            services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON)

    assert not Hold.objects.exists()
    assert wallet_of(quote.user).available == usd(100)
    services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON)
    assert Hold.objects.count() == Workspace.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_makes_one_workspace_from_many_clicks_at_once(quote):
    clicks = 6
    barrier = Barrier(clicks)

    def click(_number):
        barrier.wait()
        try:
            return services.fund_workspace(
                user=quote.user, quote_id=quote.pk, at=NOON
            ).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(clicks) as pool:
        funded = list(pool.map(click, range(clicks)))

    assert funded == [quote.pk] * clicks
    assert Hold.objects.count() == Workspace.objects.count() == 1
    assert wallet_of(quote.user).held == usd("18.33")
