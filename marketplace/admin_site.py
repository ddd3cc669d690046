"""
The admin behind the site's own log-in: one door, one set of limits, one second factor.
"""

from typing import Any

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _


class StaffSite(admin.AdminSite):
    site_header = _("Corehour administration")
    site_title = _("Corehour administration")
    index_title = _("Tables")

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response: HttpResponse = secure_admin_login(super().login)(
            request, extra_context
        )
        return response
