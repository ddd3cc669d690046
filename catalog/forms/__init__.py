from catalog.forms.offers import OfferForm
from catalog.forms.planner import PlannerForm

__all__ = ["OfferForm", "PlannerForm"]
