from catalog.forms.offers import OfferForm
from catalog.forms.planner import OWN, PlannerForm
from catalog.forms.shape import ConfigForm, ShapeForm, shape_query
from catalog.forms.state import PlannerState

__all__ = [
    "OWN",
    "ConfigForm",
    "OfferForm",
    "PlannerForm",
    "PlannerState",
    "ShapeForm",
    "shape_query",
]
