"""
Prices so unlikely that a second person has to say that they are meant.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from catalog.models.fields import price_field
from catalog.models.offers import Offer, OfferPrice


class PriceProposalQuerySet(models.QuerySet["PriceProposal"]):
    def waiting(self) -> Self:
        """
        Keep those that nobody decided on.
        """
        return self.filter(decided_at__isnull=True)

    def offers_among(self, offer_ids: Collection[int]) -> set[int]:
        """
        Return which of these offers have a price that waits.
        """
        waiting = self.waiting().filter(offer__in=offer_ids)
        return set(waiting.values_list("offer_id", flat=True))


PriceProposalManager = models.Manager.from_queryset(PriceProposalQuerySet)


class PriceProposal(models.Model):
    """
    What one GPU of an offer is to cost, once somebody else than its author approves.

    It becomes a `version` when it is approved, and none when it is refused.
    """

    offer = models.ForeignKey(
        Offer, models.PROTECT, related_name="proposals", verbose_name=_("offer")
    )
    hourly_price = price_field(
        _("price per GPU-hour"), help_text=_("For one GPU, ex tax.")
    )
    valid_from = models.DateTimeField(_("valid from"))
    reason = models.CharField(_("reason"), max_length=200)
    proposed_at = models.DateTimeField(_("proposed at"))
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("proposed by"),
    )
    decided_at = models.DateTimeField(_("decided at"), null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("decided by"),
    )
    decision_reason = models.CharField(
        _("reason of the decision"), max_length=200, blank=True
    )
    version = models.OneToOneField(
        OfferPrice,
        models.PROTECT,
        null=True,
        related_name="proposal",
        verbose_name=_("price version"),
    )

    objects = PriceProposalManager()

    class Meta:
        verbose_name = _("price to be approved")
        verbose_name_plural = _("prices to be approved")
        constraints = [
            models.CheckConstraint(
                condition=Q(hourly_price__gt=0) & ~Q(reason=""),
                name="priceproposal_says_why",
            ),
            models.CheckConstraint(
                condition=Q(
                    decided_at__isnull=True,
                    decided_by__isnull=True,
                    version__isnull=True,
                )
                | Q(decided_at__isnull=False, decided_by__isnull=False)
                & ~Q(decision_reason=""),
                name="priceproposal_decided_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(version__isnull=True)
                | Q(proposed_by__isnull=True)
                | ~Q(decided_by=F("proposed_by")),
                name="priceproposal_four_eyes",
            ),
            models.UniqueConstraint(
                fields=["offer", "valid_from"],
                condition=Q(decided_at__isnull=True),
                name="priceproposal_waits_once",
            ),
        ]

    def __str__(self) -> str:
        return _now("Proposed price %(number)s") % {"number": self.pk}

    @property
    def is_approved(self) -> bool:
        return self.version_id is not None

    def start(self, at: datetime) -> datetime:
        """
        Return from when the price holds if it is approved at `at`.
        """
        return max(self.valid_from, at)
