"""
The filters of the list of GPUs, whose state is the page's address.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

import formats
from catalog.exchange import REFERENCE
from catalog.forms.fields import FigureField
from catalog.gpu_list import Filters, Sort
from catalog.models import GpuModel, Method, Region
from catalog.names import region_name

ANY = ("", _("Any"))
SORTS = [
    (Sort.PRICE.value, _("Price")),
    (Sort.PER_GB.value, _("Price per GB of memory")),
    (Sort.PER_TBS.value, _("Price per TB/s")),
    (Sort.MEMORY.value, _("Memory, the largest first")),
    (Sort.BANDWIDTH.value, _("Bandwidth, the highest first")),
    (Sort.NAME.value, _("Name")),
]
# The columns of the table: label, whether a number, what a click sorts by and how.
COLUMNS: tuple[tuple[str | Promise, bool, Sort | None, str], ...] = (
    (_("GPU"), False, Sort.NAME, "ascending"),
    (_("Price/h"), True, Sort.PRICE, "ascending"),
    (_("Memory"), True, Sort.MEMORY, "descending"),
    (_("Bandwidth"), True, Sort.BANDWIDTH, "descending"),
    (_("per GB"), True, Sort.PER_GB, "ascending"),
    (_("per TB/s"), True, Sort.PER_TBS, "ascending"),
    (_("QLoRA"), True, None, ""),
    (_("LoRA"), True, None, ""),
    (_("Where, who, and as of when"), False, None, ""),
)
# Of a figure that is typed, what it is at most: beyond it is a slip of the hand.
MOST_GB = 10_000
MOST_PRICE = 10_000
MOST_BILLIONS = 10_000


def _select(label: Any, **options: Any) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        required=False,
        error_messages={"invalid_choice": _("This is not on the list: choose again.")},
        **options,
    )


class GpuFilterForm(forms.Form):
    """
    What is asked of a GPU. A field with an error asks nothing, the others still do.
    """

    # Two fields are one filter: a method alone asks nothing.
    FIELDS: Mapping[str, tuple[str, ...]] = {"size": ("size", "method")}

    memory_from = FigureField(
        label=_("Memory from"), unit="GB", above=0, most=MOST_GB, required=False
    )
    memory_to = FigureField(
        label=_("Memory to"), unit="GB", above=0, most=MOST_GB, required=False
    )
    price_to = FigureField(
        label=_("Price up to"),
        unit=f"{REFERENCE}/h",
        above=0,
        most=MOST_PRICE,
        required=False,
    )
    size = FigureField(
        label=_("Model that must fit"),
        unit="B",
        above=0,
        most=MOST_BILLIONS,
        required=False,
        help_text=_("Billions of parameters, by the rule of thumb."),
    )
    method = _select(_("Method"), choices=Method.choices)
    region = _select(_("Region"))
    architecture = _select(_("Architecture"))
    vendor = _select(_("Vendor"))
    free = forms.BooleanField(label=_("Available now"), required=False)
    sort = _select(_("Sort by"), choices=SORTS)

    def __init__(
        self,
        query: Mapping[str, Any],
        *,
        gpus: Iterable[GpuModel],
        regions: Iterable[Region],
    ) -> None:
        super().__init__(query)
        gpus = list(gpus)
        places = sorted((region_name(region), region.slug) for region in regions)
        self._offer("region", [(slug, name) for name, slug in places])
        for name in ("architecture", "vendor"):
            values = sorted({getattr(gpu, name) for gpu in gpus})
            self._offer(name, [(value, value) for value in values])
        self.is_valid()

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name].choices = [ANY, *choices]  # type: ignore[attr-defined]

    def filters(self) -> Filters:
        """
        Return what is asked by the fields that are understood.
        """
        data = self.cleaned_data
        size = data.get("size")
        return Filters(
            memory_from=data.get("memory_from"),
            memory_to=data.get("memory_to"),
            architecture=data.get("architecture", ""),
            vendor=data.get("vendor", ""),
            region=data.get("region", ""),
            price_to=data.get("price_to"),
            size=(self._method(), size) if size else None,
            free=data.get("free", False),
        )

    def sorted_by(self) -> Sort:
        return Sort(self.cleaned_data.get("sort") or Sort.PRICE)

    def sort_said(self) -> str:
        return str(dict(SORTS)[self.sorted_by().value])

    def _method(self) -> str:
        return str(self.cleaned_data.get("method") or Method.QLORA)

    def state(self) -> dict[str, str]:
        """
        Return what is asked as the query of a link, without what goes unsaid.
        """
        active = self.filters().active()
        state = {
            field: str(self.data[field])
            for name in active
            for field in self.FIELDS.get(name, (name,))
            if self.data.get(field)
        }
        return {**state, **self._sort_query(self.sorted_by())}

    def heads(self) -> list[dict[str, Any]]:
        """
        Return the heads of the table, with what sorts by each.
        """
        rest = {name: text for name, text in self.state().items() if name != "sort"}
        return [
            {
                "label": label,
                "is_number": is_number,
                "sort": how if by is self.sorted_by() else "",
                "sort_url": f"?{urlencode({**rest, **self._sort_query(by)})}"
                if by
                else "",
            }
            for label, is_number, by, how in COLUMNS
        ]

    def _sort_query(self, sort: Sort) -> dict[str, str]:
        return {} if sort is Sort.PRICE else {"sort": sort.value}

    def without(self, name: str) -> dict[str, str]:
        """
        Return the query of a link that drops a filter.
        """
        dropped = self.FIELDS.get(name, (name,))
        return {
            field: text for field, text in self.state().items() if field not in dropped
        }

    def said(self, name: str) -> str:
        """
        Return what a filter asks, in words.
        """
        value, field = self.cleaned_data[name], self.fields[name]
        language = formats.language()
        if isinstance(field, forms.BooleanField):
            return str(field.label)
        if isinstance(field, forms.ChoiceField):
            choices: Any = field.choices
            text = str(dict(choices)[value])
        elif name == "size":
            method = Method(self._method()).label
            text = f"{formats.billions(value, language)}, {method}"
        else:
            text = f"{formats.number(value, language)} {getattr(field, 'unit', '')}"
        return f"{field.label}: {text}"
