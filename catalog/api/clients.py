"""
Who is counted as one client of the API.
"""

from ipaddress import IPv6Address, ip_address, ip_network

from allauth.account.adapter import get_adapter
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

# Who is given an IPv6 address is given a whole network of this size.
IPV6_PREFIX = 64


def client_of(request: HttpRequest) -> str:
    """
    Return who calls: an IPv4 address, or the network of an IPv6 address.
    """
    try:
        address = ip_address(get_adapter().get_client_ip(request))
    except (PermissionDenied, ValueError):
        # A server behind a socket of the file system knows no address.
        return "unknown"
    if isinstance(address, IPv6Address):
        return str(ip_network((address, IPV6_PREFIX), strict=False))
    return str(address)
