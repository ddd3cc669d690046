"""
The states of a workspace: what each means, where it leads, and what it charges.

This is the one definition: the services refuse every move that is not listed here,
the meters that run are the ones of the state, and the page "How billing works" prints
this table.
"""

from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class State(TextChoices):
    DRAFT = "DRAFT", _("Draft")
    FUNDED = "FUNDED", _("Funded")
    QUEUED = "QUEUED", _("Queued")
    MATCHED = "MATCHED", _("Matched")
    PROVISIONING = "PROVISIONING", _("Provisioning")
    RUNNING = "RUNNING", _("Running")
    STOPPED = "STOPPED", _("Stopped, data kept")
    ENDED = "ENDED", _("Ended")
    FAILED = "FAILED", _("Failed")
    CANCELLED = "CANCELLED", _("Cancelled")
    EXPIRED = "EXPIRED", _("Expired")
    DELETED = "DELETED", _("Data deleted")


class Metered(TextChoices):
    """
    What a meter of a workspace charges for.
    """

    COMPUTE = "compute", _("GPU")
    STORAGE = "storage", _("Storage")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """
    What one state means: `meters` run in it, and nothing else is charged.
    """

    meaning: Promise
    meters: frozenset[Metered] = frozenset()
    leads_to: frozenset[State] = frozenset()

    @property
    def is_compute_charged(self) -> bool:
        return Metered.COMPUTE in self.meters

    @property
    def is_storage_charged(self) -> bool:
        return Metered.STORAGE in self.meters


# What was interrupted can be given up while it waits: its data are kept, or not.
GIVEN_UP_LATER = frozenset({State.STOPPED, State.ENDED})
# A start that does not work ends the request, or sends it where it came from.
NOT_STARTED = frozenset({State.QUEUED, State.FAILED, State.CANCELLED}) | GIVEN_UP_LATER

RULES: dict[State, Rule] = {
    State.DRAFT: Rule(
        meaning=_("You are still writing the request. No money is held."),
        leads_to=frozenset({State.FUNDED}),
    ),
    State.FUNDED: Rule(
        meaning=_(
            "The most it can cost is held in your wallet until the market opens."
        ),
        leads_to=frozenset({State.QUEUED, State.CANCELLED, State.EXPIRED}),
    ),
    State.QUEUED: Rule(
        meaning=_("The request is in the order book and waits for a node."),
        leads_to=frozenset({State.MATCHED, State.CANCELLED, State.EXPIRED})
        | GIVEN_UP_LATER,
    ),
    State.MATCHED: Rule(
        meaning=_("A node is reserved for you and the price is fixed."),
        leads_to=frozenset({State.PROVISIONING}) | NOT_STARTED,
    ),
    State.PROVISIONING: Rule(
        meaning=_("The machine is being set up. Waiting for it is free."),
        leads_to=frozenset({State.RUNNING}) | NOT_STARTED,
    ),
    State.RUNNING: Rule(
        meaning=_("The machine is yours; the clock runs from the moment it is ready."),
        meters=frozenset({Metered.COMPUTE, Metered.STORAGE}),
        leads_to=frozenset({State.STOPPED, State.ENDED, State.QUEUED}),
    ),
    State.STOPPED: Rule(
        meaning=_("The GPU is given back; your data are kept for the days you paid."),
        meters=frozenset({Metered.STORAGE}),
        leads_to=frozenset({State.MATCHED, State.DELETED}),
    ),
    State.ENDED: Rule(
        meaning=_("It ran and is over; nothing was kept."),
    ),
    State.FAILED: Rule(
        meaning=_("It could not be started. The whole hold came back."),
    ),
    State.CANCELLED: Rule(
        meaning=_("You cancelled before the start. The whole hold came back."),
    ),
    State.EXPIRED: Rule(
        meaning=_("No node was free before your deadline. The whole hold came back."),
    ),
    State.DELETED: Rule(
        meaning=_("The days you paid for are over, or you deleted the data."),
    ),
}

LEGAL_MOVES = {state: rule.leads_to for state, rule in RULES.items()}
WAITING = frozenset({State.FUNDED, State.QUEUED})
STARTING = frozenset({State.MATCHED, State.PROVISIONING})
ON_A_NODE = STARTING | {State.RUNNING}
CANCELLABLE = frozenset(
    state for state, targets in LEGAL_MOVES.items() if State.CANCELLED in targets
)
CHARGED = frozenset(state for state, rule in RULES.items() if rule.meters)
OVER = frozenset(state for state, targets in LEGAL_MOVES.items() if not targets)
