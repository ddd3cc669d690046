"""
What a call may say: the parameters of the API's addresses.
"""

from http import HTTPStatus
from typing import Annotated, Any, Literal, Self

from django import forms
from django.conf import settings
from django.http import HttpRequest, QueryDict
from django.utils import translation
from django.utils.translation import gettext_noop as _
from ninja import Field, Path, Schema
from pydantic import ValidationInfo, create_model, model_validator
from pydantic_core import PydanticCustomError

from catalog.api.problems import CannotAnswer
from catalog.forms import PlannerForm, ShapeForm
from catalog.forms.fields import FigureField

# No more than this many things in one answer, and none after this many.
MOST = 200
FURTHEST = 100_000
LONGEST_HISTORY_DAYS = 365
MOST_HOURS = 2160

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
# A number above zero, as the form of the planner takes it.
FIGURE = r"^[1-9][0-9]{0,4}(\.[0-9]{1,6})?$"
Slug = Annotated[str, Field(pattern=SLUG, max_length=50)]
Currency: Any = Literal[settings.CURRENCIES]
GpuSlug = Path(
    ...,
    pattern=SLUG,
    max_length=50,
    description=_("The GPU, by its slug."),
    example="rtx-4090",
)


class Parameters(Schema):
    """
    Parameters in an address, each of them known and given once.
    """

    @model_validator(mode="after")
    def refuse_what_is_not_understood(self, info: ValidationInfo) -> Self:
        """
        Refuse unknown and repeated names: an answer to half a question misleads.
        """
        query = info.context["request"].GET if info.context else QueryDict()
        known = type(self).model_fields
        for name in query:
            if name not in known:
                raise _wrong(name, f"is not known here, only {', '.join(known)} are")
            if len(query.getlist(name)) > 1:
                raise _wrong(name, "is given twice")
        return self


class ListParameters(Parameters):
    limit: int = Field(
        50, ge=1, le=MOST, description=_("How many there are in one answer.")
    )
    offset: int = Field(
        0,
        ge=0,
        le=FURTHEST,
        description=_("How many to skip; `next` in an answer has it filled in."),
    )


class OfferParameters(ListParameters):
    gpu: Slug | None = Field(
        None,
        description=_("Only this GPU, by its slug."),
        json_schema_extra={"example": "rtx-4090"},
    )
    region: Slug | None = Field(
        None,
        description=_("Only this region, by its slug."),
        json_schema_extra={"example": "eu-central-frankfurt"},
    )
    supplier: Slug | None = Field(
        None,
        description=_("Only this supplier, by its slug."),
        json_schema_extra={"example": "everxcloud"},
    )
    currency: Currency | None = Field(
        None, description=_("Only what is asked in this currency.")
    )
    gpus_per_node: int | None = Field(
        None, ge=1, le=16, description=_("Only nodes with this many GPUs.")
    )

    def lookups(self) -> dict[str, Any]:
        """
        Return the filters as lookups of live offers.
        """
        lookups = {
            "gpu__slug": self.gpu,
            "region__slug": self.region,
            "supplier__slug": self.supplier,
            "hourly_currency": self.currency,
            "gpus_per_node": self.gpus_per_node,
        }
        return {name: value for name, value in lookups.items() if value is not None}


class HistoryParameters(Parameters):
    region: Slug | None = Field(
        None,
        description=_("The region; without it, the one of the best ask."),
        json_schema_extra={"example": "eu-central-frankfurt"},
    )
    days: int = Field(
        90, ge=1, le=LONGEST_HISTORY_DAYS, description=_("How many days back.")
    )
    currency: Currency | None = Field(
        None,
        description=_("The currency; without it, the one that is asked in most."),
    )


class CostParameters(Parameters):
    region: Slug | None = Field(
        None,
        description=_("The region; without it, the one of the best ask."),
        json_schema_extra={"example": "eu-central-frankfurt"},
    )
    gpus: int = Field(
        1,
        ge=1,
        le=16,
        description=_("How many GPUs: nodes with exactly this many count."),
    )
    hours: int = Field(
        40, ge=1, le=MOST_HOURS, description=_("How long it runs, in hours.")
    )
    storage_gb: int = Field(
        0, ge=0, le=20_000, description=_("Storage while it runs, in GB.")
    )
    kept_days: int = Field(
        0,
        ge=0,
        le=365,
        description=_("How many days the storage is kept afterwards."),
    )
    storage_plan: Slug | None = Field(
        None,
        description=_("The storage plan; without it, the persistent one."),
        json_schema_extra={"example": "persistent"},
    )


def refuse_parameters(request: HttpRequest) -> None:
    """
    Refuse every parameter, where there is nothing to choose.

    :raises CannotAnswer: if there is one
    """
    if request.GET:
        names = ", ".join(request.GET)
        raise CannotAnswer(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"This address has no parameters: leave {names} out.",
        )


def _wrong(name: str, what: str) -> PydanticCustomError:
    return PydanticCustomError(
        "not_understood",
        "{what}",
        {"parameter": name, "what": what},
    )


def _of_planner(*left_out: str) -> dict[str, Any]:
    """
    Return the fields of the planner's form as parameters, by the same names.
    """
    with translation.override("en"):
        return {
            name: _of_field(PlannerForm.base_fields[name], default)
            for name, default in PlannerForm.DEFAULTS.items()
            if name not in left_out
        }


def _of_shape() -> dict[str, Any]:
    """
    Return the sizes of a model of one's own as parameters.
    """
    with translation.override("en"):
        return {
            name: _of_field(field, ... if field.required else None)
            for name, field in ShapeForm.base_fields.items()
        }


def _of_field(field: forms.Field, default: Any) -> tuple[Any, Any]:
    about = str(field.label)
    kind: Any = str
    limits: dict[str, Any] = {"min_length": 1, "max_length": 100}
    if isinstance(field, forms.ChoiceField):
        choices: Any = field.choices
        names: Any = tuple(str(name) for name, _label in choices)
        kind, limits = Literal[names], {}
    elif isinstance(field, forms.IntegerField):
        kind, limits = int, {"ge": field.min_value, "le": field.max_value}
        default = int(default) if isinstance(default, str) else default
    elif isinstance(field, FigureField):
        limits = {"pattern": FIGURE}
    if default is None:
        kind = kind | None
    return kind, Field(default, description=about, **limits)


_GPU: Any = (
    Slug | None,
    Field(
        None,
        description=_("Only this GPU, by its slug."),
        json_schema_extra={"example": "rtx-4090"},
    ),
)
EstimateParameters = create_model(
    "EstimateParameters",
    __base__=Parameters,
    **_of_planner("source"),
    gpu=_GPU,
)
OwnEstimateParameters = create_model(
    "OwnEstimateParameters",
    __base__=Parameters,
    **_of_shape(),
    **_of_planner("source", "model"),
    gpu=_GPU,
)
