"""
For whom a request acts: pages of the desk are there for a supplier's people only.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

import clock
from marketplace.models import SupplierMember
from marketplace.second_factor import second_factor_only
from marketplace.suppliers.people import member_of

View = Callable[..., HttpResponseBase]


def supplier_only(view: View) -> View:
    """
    Hand the view the `member` who asks; everybody else sees no such page.
    """
    return _only(lambda _member: True, view)


def proven_owner_only(view: View) -> View:
    """
    Do the same for owners in a session just proven, also by a second factor.

    It keeps what decides where money goes: bank accounts, and who may change them.
    """
    guarded: View = reauthentication_required(view)
    return _only(lambda member: member.is_owner, second_factor_only(guarded))


def _only(may_open: Callable[[SupplierMember], bool], view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        assert request.user.is_authenticated
        member = member_of(request.user)
        if member is None or not may_open(member):
            raise Http404
        return view(request, member=member, **kwargs)

    return guarded


def act(
    request: HttpRequest,
    verb: Callable[..., Any],
    *,
    done: str,
    refusals: tuple[type[Exception], ...],
    **told: Any,
) -> bool:
    """
    Do it now, and say that it is done or why it cannot be; return whether it is.
    """
    try:
        verb(at=clock.now(), **told)
    except refusals as error:
        messages.error(request, str(error))
        return False
    messages.success(request, done)
    return True
