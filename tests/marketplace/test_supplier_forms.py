"""
What suppliers type: numbers of banks and taxes are checked before they are kept.

The IBANs are the examples of the IBAN registry (DE, GB) or one with swapped digits.
"""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from catalog.forms.files import CsvFileForm
from marketplace.demo_supplier import company_data
from marketplace.suppliers.forms import (
    BankForm,
    CompanyForm,
    InvitationForm,
    NodesForm,
    ReasonForm,
)
from tests.marketplace.supplier_fixtures import typed_nodes

DE, GB = "DE89370400440532013000", "GB82WEST12345698765432"


def bank(number, code="", currency="EUR"):
    return BankForm(
        {
            "currency": currency,
            "holder": "Nordlicht GmbH",
            "number": number,
            "bank_code": code,
        }
    )


@pytest.mark.parametrize(
    ("number", "code", "kept"),
    [
        ("de89 3704-0044 0532 0130 00", "", (DE, "")),
        ("GB82 WEST 1234 5698 7654 32", "", (GB, "")),
        (DE, "deutdeff", (DE, "DEUTDEFF")),
        ("31926819", "60-16-13", ("31926819", "601613")),
        ("000123456789", "021000021", ("000123456789", "021000021")),
    ],
    ids=["spaces", "British", "with a BIC", "sort code", "routing number"],
)
def test_an_account_is_kept_in_its_compact_form(number, code, kept):
    form = bank(number, code)

    assert form.is_valid(), form.errors
    assert (form.cleaned_data["number"], form.cleaned_data["bank_code"]) == kept


@pytest.mark.parametrize(
    ("number", "code", "field", "message"),
    [
        ("DE89370400440532013001", "", "number", "check digits do not fit"),
        ("DE98370400440532013000", "", "number", "check digits do not fit"),
        ("DE89", "", "number", "check digits do not fit"),
        ("12€34", "601613", "number", "letters and digits"),
        ("31926819", "", "bank_code", "needs this"),
        (DE, "DEUT", "bank_code", "no BIC and no sort code"),
        ("31926819", "12345", "bank_code", "no BIC and no sort code"),
    ],
)
def test_a_number_with_a_slip_is_refused(number, code, field, message):
    form = bank(number, code)

    assert list(form.errors) == [field]
    assert message in str(form.errors[field])


def test_no_payouts_in_a_currency_that_is_not_on():
    assert list(bank(DE, currency="PLN").errors) == ["currency"]


def company(**changes):
    data = company_data("Fjordkraft")
    return CompanyForm({"name": data.name, **data.columns(), **changes})


@pytest.mark.parametrize(
    ("changes", "vat_id"),
    [
        ({"vat_id": "136 695 976"}, "DE136695976"),
        ({"country": "US", "vat_id": "12-3456789"}, "12-3456789"),
    ],
    ids=["the EU's with its prefix", "elsewhere as it is"],
)
def test_a_tax_number_is_kept(changes, vat_id):
    form = company(**changes)

    assert form.is_valid(), form.errors
    assert form.data_of_company().vat_id == vat_id


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("vat_id", "DE136695975"),
        ("vat_id", "FR40303265045"),
        ("country", "XX"),
        ("website", "http://fjordkraft.example"),
        ("website", "javascript:alert(1)"),
        ("phone", "call me"),
        ("name", "Fj"),
        ("about", "x" * 1001),
        ("legal_name", ""),
    ],
)
def test_what_cannot_be_checked_is_refused(field, text):
    assert list(company(**{field: text}).errors) == [field]


def test_an_address_is_invited_in_lower_case():
    form = InvitationForm({"email": "Kim@Example.COM", "role": "OPERATOR"})

    assert form.is_valid()
    assert form.cleaned_data["email"] == "kim@example.com"
    assert "role" in InvitationForm({"email": "a@b.example", "role": "STAFF"}).errors


def test_a_decision_has_a_sentence():
    assert not ReasonForm({"reason": "  "}).is_valid()
    assert not ReasonForm({"reason": "x" * 501}).is_valid()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x" * 2_000_001, "larger than 2 MB"),
        ("gpu;näht".encode("latin-1"), "not UTF-8"),
        (b"gpu\0", "not a CSV file"),
    ],
    ids=["too large", "another encoding", "binary"],
)
def test_a_file_that_cannot_be_read_is_refused(content, message):
    form = CsvFileForm({}, {"file": SimpleUploadedFile("n.csv", content)})

    assert message in str(form.errors["file"])


def test_a_file_is_read_without_its_mark():
    file = SimpleUploadedFile("n.csv", "\ufeffgpu,ask\r\n".encode())
    form = CsvFileForm({}, {"file": file})

    assert form.is_valid()
    assert (form.name, form.cleaned_data["file"]) == ("n.csv", "gpu,ask\r\n")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("gpu", "voodoo-2", "valid choice"),
        ("gpus_per_node", "17", "16"),
        ("nodes", "1.5", "whole number"),
        ("network_gbps", "0", "above 0"),
        ("cuda_version", "12", "12.8"),
        ("ask", "0", "more than zero"),
        ("ask", "0.3.3", "like 0.33 or 0,33"),
        ("currency", "PLN", "valid choice"),
        ("until", "31.12.2026", "valid date"),
    ],
)
def test_nodes_that_cannot_be_are_refused(catalog, field, text, message):
    form = NodesForm(typed_nodes(**{field: text}))

    assert list(form.errors) == [field]
    assert message in str(form.errors[field])
