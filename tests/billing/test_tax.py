from decimal import Decimal

import pytest
from djmoney.money import Money

from billing import tax
from billing.tax import Customer, IdStatus, Treatment


def decide(country, *, id_status=IdStatus.NONE, seller="DE", rate="19"):
    customer = Customer(
        country=country,
        is_business=id_status != IdStatus.NONE,
        id_status=id_status,
    )
    return tax.decide(
        customer=customer,
        seller_country=seller,
        standard_rate=Decimal(rate) if rate else None,
    )


@pytest.mark.parametrize(
    ("country", "id_status", "own_rate", "rate", "treatment", "is_pending"),
    [
        pytest.param(
            "FR", IdStatus.VALID, "20", "0", Treatment.REVERSE_CHARGE, False,
            id="M70 number of another member state",
        ),
        pytest.param(
            "DE", IdStatus.VALID, "19", "19", Treatment.STANDARD, False,
            id="M70 number of the seller's state",
        ),
        pytest.param(
            "GB", IdStatus.VALID, "20", "20", Treatment.STANDARD, False,
            id="M70 British number is no EU number",
        ),
        pytest.param(
            "CH", IdStatus.VALID, None, "0", Treatment.OUTSIDE, False,
            id="M70 Swiss number is no EU number",
        ),
        pytest.param(
            "NO", IdStatus.VALID, None, "0", Treatment.OUTSIDE, False,
            id="M70 Norwegian number is no EU number",
        ),
        # The case charges the seller's 19 %; DESIGN 4 charges the customer's rate.
        pytest.param(
            "FR", IdStatus.UNCHECKED, "20", "20", Treatment.STANDARD, True,
            id="M70 tax office did not answer",
        ),
        pytest.param(
            "DE", IdStatus.UNCHECKED, "19", "19", Treatment.STANDARD, False,
            id="M70 no answer, but the number would change nothing",
        ),
        pytest.param(
            "FR", IdStatus.INVALID, "20", "20", Treatment.STANDARD, False,
            id="M70 invalid number",
        ),
        pytest.param(
            "FR", IdStatus.NONE, "20", "20", Treatment.STANDARD, False,
            id="private customer",
        ),
        pytest.param(
            "MC", IdStatus.NONE, "20", "20", Treatment.STANDARD, False,
            id="Monaco is taxed as France",
        ),
        pytest.param(
            "US", IdStatus.NONE, None, "0", Treatment.OUTSIDE, False,
            id="outside the EU and the UK",
        ),
    ],
)  # fmt: skip
def test_rate_by_country_and_number(
    country, id_status, own_rate, rate, treatment, is_pending
):
    decision = decide(country, id_status=id_status, rate=own_rate)

    assert decision.rate == Decimal(rate)
    assert decision.treatment == treatment
    assert decision.is_pending is is_pending


def test_seller_outside_the_eu_has_no_reverse_charge():
    decision = decide("FR", id_status=IdStatus.VALID, seller="GB", rate="20")

    assert decision.treatment == Treatment.STANDARD


def test_missing_rate_is_not_zero():
    with pytest.raises(ValueError, match="no VAT rate for FR"):
        decide("FR", rate=None)


def test_reason_says_that_the_number_is_unchecked():
    decision = decide("FR", id_status=IdStatus.UNCHECKED)

    assert "could not be checked" in str(decision.reason)
    assert "outside the EU" in str(decide("US", rate=None).reason)


@pytest.mark.parametrize(
    ("net", "rate", "vat", "total"),
    [
        pytest.param("100.00", "20", "20.00", "120.00", id="M13"),
        pytest.param("14.31", "24", "3.43", "17.74", id="M58"),
        pytest.param(
            "99.99", "20", "20.00", "119.99", id="M60b R52 sum of three 33.33"
        ),
        pytest.param("642.50", "15", "96.38", "738.88", id="M60c half a cent goes up"),
        pytest.param("65.00", "2.3", "1.50", "66.50", id="M60d"),
        pytest.param("5.00", "25.5", "1.28", "6.28", id="Finland"),
        pytest.param("5.00", "0", "0.00", "5.00", id="no VAT"),
    ],
)
def test_net_and_vat_add_up(net, rate, vat, total):
    taxed = tax.add_vat(Money(net, "EUR"), rate=Decimal(rate))

    assert taxed.vat == Money(vat, "EUR")
    assert taxed.total == Money(total, "EUR")


def test_last_refund_returns_the_rest_of_the_vat():
    # 10.00 at 19 % is 1.90. A third of it: 3.33 -> 0.6327, then 6.66 -> 1.2654 in all.
    parts, returned = [], Decimal(0)
    for returned_net in (Decimal("3.33"), Decimal("6.66"), Decimal("10.00")):
        part = tax.vat_to_return(
            net=Decimal("10.00"),
            vat=Decimal("1.90"),
            returned_net=returned_net,
            returned_vat=returned,
        )
        returned += part
        parts.append(part)

    assert parts == [Decimal("0.63"), Decimal("0.64"), Decimal("0.63")]


@pytest.mark.parametrize(
    ("text", "country", "number"),
    [
        ("DE136695976", "DE", "DE136695976"),
        (" de 136 695 976 ", "DE", "DE136695976"),
        ("136695976", "DE", "DE136695976"),
        ("EL094259216", "GR", "EL094259216"),
        ("094259216", "GR", "EL094259216"),
        ("FR 61 954 506 077", "MC", "FR61954506077"),
    ],
)
def test_reads_a_vat_number(text, country, number):
    assert tax.parse_vat_id(text, country=country) == number


@pytest.mark.parametrize(
    ("text", "country", "message"),
    [
        ("DE136695977", "DE", "starts with DE"),
        ("FR61954506077", "DE", "starts with DE"),
        ("hello", "GR", "starts with EL"),
        # Valid without its blanks, but nobody types that many.
        ("DE136695" + 40 * " " + "976", "DE", "starts with DE"),
        ("GB980780684", "GB", "only used for countries in the EU"),
        ("CHE107787577MWST", "CH", "only used for countries in the EU"),
    ],
)
def test_refuses_what_is_no_vat_number(text, country, message):
    with pytest.raises(tax.VatIdInvalid, match=message):
        tax.parse_vat_id(text, country=country)
