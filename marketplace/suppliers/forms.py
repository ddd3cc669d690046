"""
What suppliers, and staff about them, type into the desk.
"""

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import RegexValidator, URLValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from djmoney.money import Money
from stdnum import bic, iban
from stdnum.exceptions import ValidationError as NumberFault

import formats
from billing import countries
from billing.tax import EU_COUNTRIES, VatIdInvalid, parse_vat_id
from catalog.forms.fields import CountField, FigureField
from catalog.forms.offers import RateField
from catalog.models import GpuModel, Region
from catalog.names import region_name
from catalog.node_files import CUDA, LIMITS, MOST_NETWORK, end_of, last_day
from catalog.services import Nodes
from marketplace.models import Check, Company, SupplierMember
from marketplace.suppliers.companies import CompanyData
from workspaces.forms.columns import Columns, Group, columns_of

NODE_COLUMNS: Columns = [
    [
        (
            gettext_lazy("The nodes"),
            [["gpu", "region"], ["gpus_per_node", "nodes"]],
        ),
        (
            gettext_lazy("The machine around the GPUs"),
            [["cpu_cores", "ram_gb"], ["disk_gb", "network_gbps"], ["cuda_version"]],
        ),
    ],
    [
        (
            gettext_lazy("Your terms"),
            [["ask", "currency"], ["floor"], ["until"]],
        ),
    ],
]
ACCOUNT = re.compile(r"[A-Z0-9]{4,34}", re.ASCII)


class CompanyForm(forms.Form):
    """
    The application of a business.
    """

    name = forms.CharField(
        label=gettext_lazy("Name that renters see"), min_length=3, max_length=60
    )
    legal_name = forms.CharField(
        label=gettext_lazy("Registered name"),
        max_length=120,
        widget=forms.TextInput({"autocomplete": "organization"}),
    )
    registration_number = forms.CharField(
        label=gettext_lazy("Registration number"),
        max_length=40,
        help_text=gettext_lazy("As in your company register, such as HRB 12345."),
    )
    country = forms.ChoiceField(label=gettext_lazy("Country"))
    vat_id = forms.CharField(
        label=gettext_lazy("VAT or tax number"),
        max_length=20,
        help_text=gettext_lazy("In the EU the VAT number, such as DE136695976."),
    )
    address = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=300,
        widget=forms.TextInput({"autocomplete": "street-address"}),
    )
    website = forms.CharField(
        label=gettext_lazy("Website"),
        max_length=200,
        required=False,
        validators=[URLValidator(schemes=["https"])],
        help_text=gettext_lazy("It begins with https://."),
    )
    contact_name = forms.CharField(
        label=gettext_lazy("Contact person"),
        max_length=120,
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    phone = forms.CharField(
        label=gettext_lazy("Telephone"),
        max_length=30,
        validators=[RegexValidator(r"^\+?[0-9 ()/.-]{5,30}$")],
        widget=forms.TextInput({"autocomplete": "tel", "inputmode": "tel"}),
    )
    about = forms.CharField(
        label=gettext_lazy("What you would list"),
        max_length=1000,
        widget=forms.Textarea({"rows": 4}),
        help_text=gettext_lazy(
            "Which GPUs, how many, where they stand, who runs them."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        country = self.fields["country"]
        assert isinstance(country, forms.ChoiceField)
        language = formats.language()
        country.choices = [
            ("", _("Choose a country")),
            *countries.choices(language=language),
        ]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("country") in EU_COUNTRIES and data.get("vat_id"):
            try:
                data["vat_id"] = parse_vat_id(data["vat_id"], country=data["country"])
            except VatIdInvalid as error:
                self.add_error("vat_id", str(error))
        return data

    def data_of_company(self) -> CompanyData:
        return CompanyData(**self.cleaned_data)

    @staticmethod
    def initial_of(company: Company) -> dict[str, str]:
        names = [name for name in CompanyForm.base_fields if name != "name"]
        values = {name: getattr(company, name) for name in names}
        return {"name": company.supplier.name, **values}


class _GpuField(forms.ModelChoiceField):
    def label_from_instance(self, obj: GpuModel) -> str:
        return obj.label


class _RegionField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Region) -> str:
        return region_name(obj)


def _count(name: str, label: Any, unit: Any = "", **options: Any) -> CountField:
    least, most = LIMITS[name]
    return CountField(
        label=label, unit=unit, min_value=least, max_value=most, **options
    )


class NodesForm(forms.Form):
    """
    Equal nodes, and on which terms they are listed.
    """

    gpu = _GpuField(
        GpuModel.objects.order_by("label"),
        label=gettext_lazy("GPU"),
        to_field_name="slug",
        empty_label=gettext_lazy("Choose a GPU"),
    )
    region = _RegionField(
        Region.objects.order_by("name"),
        label=gettext_lazy("Region"),
        to_field_name="slug",
        empty_label=gettext_lazy("Choose a region"),
    )
    gpus_per_node = _count(
        "gpus_per_node",
        gettext_lazy("GPUs in a node"),
        initial=1,
        help_text=gettext_lazy("Nodes are only rented out as a whole."),
    )
    nodes = _count("nodes", gettext_lazy("Number of nodes"))
    cpu_cores = _count("cpu_cores", gettext_lazy("CPU cores"))
    ram_gb = _count("ram_gb", gettext_lazy("RAM"), "GB")
    disk_gb = _count("disk_gb", gettext_lazy("Disk"), "GB")
    network_gbps = FigureField(
        label=gettext_lazy("Network"), unit="Gbit/s", above=0, most=MOST_NETWORK
    )
    cuda_version = forms.CharField(
        label=gettext_lazy("CUDA version"),
        required=False,
        validators=[RegexValidator(CUDA, gettext_lazy("Write the version like 12.8."))],
        help_text=gettext_lazy("The newest that the driver runs, like 12.8."),
    )
    ask = RateField(
        label=gettext_lazy("Your ask"),
        help_text=gettext_lazy("For one GPU and hour, ex tax."),
    )
    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"),
        choices=[(code, code) for code in settings.CURRENCIES],
    )
    floor = RateField(
        label=gettext_lazy("Floor"),
        required=False,
        help_text=gettext_lazy(
            "No ask below it is taken, neither here nor from a file: it catches slips."
        ),
    )
    until = forms.DateField(
        label=gettext_lazy("Last day"),
        required=False,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        help_text=gettext_lazy(
            "In UTC. Requests that would run longer are not matched. Empty: no end."
        ),
    )

    def __init__(self, *args: Any, is_listed: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if is_listed:
            # What a rental was matched by cannot change under it.
            for name in ("gpu", "region", "gpus_per_node", "currency"):
                self.fields[name].disabled = True

    def columns(self) -> list[list[Group]]:
        """
        Return the fields as they are drawn.
        """
        return columns_of(self, NODE_COLUMNS)

    def clean_ask(self) -> Decimal:
        ask: Decimal = self.cleaned_data["ask"]
        if ask <= 0:
            raise forms.ValidationError(_("A price is more than zero."))
        return ask

    def nodes_wanted(self) -> Nodes:
        data = self.cleaned_data
        machine = ("cpu_cores", "ram_gb", "disk_gb", "network_gbps", "cuda_version")
        return Nodes(
            gpu_id=data["gpu"].pk,
            region_id=data["region"].pk,
            gpus_per_node=data["gpus_per_node"],
            nodes=data["nodes"],
            **{name: data[name] for name in machine},
            ask=Money(data["ask"], data["currency"]),
            floor=data["floor"] or None,
            available_until=end_of(data["until"]),
        )

    @staticmethod
    def initial_of(offer: Any) -> dict[str, Any]:
        """
        Return what the form shows of an offer that `listed_offers` read.
        """
        listing = offer.listing
        floor = listing.floor_amount
        return {
            "gpu": offer.gpu.slug,
            "region": offer.region.slug,
            "gpus_per_node": offer.gpus_per_node,
            "nodes": offer.nodes,
            "cpu_cores": listing.cpu_cores,
            "ram_gb": listing.ram_gb,
            "disk_gb": listing.disk_gb,
            "network_gbps": _plain(listing.network_gbps),
            "cuda_version": listing.cuda_version,
            "ask": _plain(offer.hourly_amount),
            "currency": offer.hourly_currency,
            "floor": "" if floor is None else _plain(floor),
            "until": last_day(offer.available_until),
        }


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"


class BankForm(forms.Form):
    """
    Where payouts of a currency go, as the bank's file needs it.
    """

    currency = forms.ChoiceField(
        label=gettext_lazy("Payouts in"),
        choices=[(code, code) for code in settings.CURRENCIES],
    )
    holder = forms.CharField(
        label=gettext_lazy("Account holder"),
        max_length=70,
        help_text=gettext_lazy("Your company: the bank compares the name."),
    )
    number = forms.CharField(
        label=gettext_lazy("IBAN or account number"),
        max_length=42,
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    bank_code = forms.CharField(
        label=gettext_lazy("BIC or sort code"),
        max_length=14,
        required=False,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text=gettext_lazy("Not needed with an IBAN."),
    )

    def clean_number(self) -> str:
        number = re.sub(r"[\s-]", "", self.cleaned_data["number"]).upper()
        is_iban = bool(re.match(r"[A-Z]{2}[0-9]{2}", number))
        if is_iban:
            try:
                return str(iban.validate(number))
            except NumberFault as fault:
                raise forms.ValidationError(
                    _("This is no IBAN: its check digits do not fit. Look again.")
                ) from fault
        if not ACCOUNT.fullmatch(number):
            raise forms.ValidationError(_("Write letters and digits only."))
        return number

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        code = re.sub(r"[\s-]", "", data.get("bank_code", "")).upper()
        data["bank_code"] = code
        is_iban = bool(re.match(r"[A-Z]{2}[0-9]{2}", data.get("number", "")))
        if not code and "number" in data and not is_iban:
            self.add_error(
                "bank_code", _("An account number without an IBAN needs this.")
            )
        if code and not (bic.is_valid(code) or re.fullmatch(r"[0-9]{6,9}", code)):
            self.add_error("bank_code", _("This is no BIC and no sort code."))
        return data


class InvitationForm(forms.Form):
    email = forms.EmailField(label=gettext_lazy("E-mail address"))
    role = forms.ChoiceField(
        label=gettext_lazy("What the person may do"),
        choices=SupplierMember.Role.choices,
        initial=SupplierMember.Role.OPERATOR,
        widget=forms.RadioSelect,
    )

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


class ReasonForm(forms.Form):
    """
    What staff write to a company with a decision.
    """

    reason = forms.CharField(
        label=gettext_lazy("In a sentence"),
        max_length=500,
        help_text=gettext_lazy("The supplier reads this sentence."),
    )


class CheckForm(forms.Form):
    check = forms.ChoiceField(choices=Check.choices)
    is_passed = forms.BooleanField(required=False)
    note = forms.CharField(max_length=300, required=False)

    def clean_check(self) -> Check:
        return Check(self.cleaned_data["check"])
