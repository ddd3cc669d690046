"""
The adapters to payment providers, and which of them this site uses.
"""

from django.conf import settings

from billing.gateway import Gateway
from billing.gateways.sandbox import SandboxGateway
from billing.gateways.stripe import StripeGateway


def current() -> Gateway:
    """
    Return the provider that new payments go to.
    """
    return by_name(settings.PAYMENT_GATEWAY)


def by_name(name: str) -> Gateway:
    """
    Return the provider that a payment of ours was made with.

    :raises KeyError: if there is none of this name
    """
    adapters: dict[str, type[SandboxGateway] | type[StripeGateway]] = {
        "sandbox": SandboxGateway,
        "stripe": StripeGateway,
    }
    return adapters[name]()
