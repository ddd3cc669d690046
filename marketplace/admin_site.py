"""
The admin behind the site's own log-in: one door, one set of limits, one second factor.
"""

from typing import Any

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache


class StaffSite(admin.AdminSite):
    site_header = _("Corehour administration")
    site_title = _("Corehour administration")
    index_title = _("Tables")

    @method_decorator([never_cache, login_not_required])
    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        # Nobody gets as far as Django's own form for a name and a password.
        enter = secure_admin_login(super().login)
        response: HttpResponse = enter(request, extra_context)
        return response
