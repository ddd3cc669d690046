"""
What allauth does differently here: accounts with wallets, mail as rows, sealed secrets.
"""

import base64
import hashlib
import logging
from datetime import UTC
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.utils import translation

import clock
import formats
from marketplace import devices, outbox, services
from marketplace.models import User

logger = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):
    """
    Sign-up opens the wallets; every mail goes to the outbox in its reader's language.
    """

    def save_user(
        self, request: HttpRequest, user: User, form: Form, commit: bool = True
    ) -> User:
        return services.sign_up(
            email=form.cleaned_data["email"],
            password=form.cleaned_data["password1"],
            language=formats.language(),
            at=clock.now(),
        )

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        assert request.user.is_authenticated
        with translation.override(request.user.language):
            return resolve_url(settings.LOGIN_REDIRECT_URL)

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        # Without the address: people type their password into its field.
        logger.warning("A log-in was refused")

    def login(self, request: HttpRequest, user: User) -> None:
        # Of the first log-in ever, at the confirmation of the address, nobody is told.
        is_news = user.last_login is not None and not devices.is_known(request, user)
        super().login(request, user)
        logger.info("Logged in: user %d", user.pk)
        if is_news:
            devices.tell_of_new_browser(request, user)

    def post_login(
        self, request: HttpRequest, user: User, **options: Any
    ) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **options)
        devices.remember(request, response, user)
        return response

    def format_email_subject(self, subject: str) -> str:
        return subject

    def send_mail(
        self, template_prefix: str, email: str, context: dict[str, Any]
    ) -> None:
        with translation.override(self._language_of(context)):
            self.render_mail(template_prefix, email, context).send()
        outbox.send_soon()

    def _language_of(self, context: dict[str, Any]) -> str:
        """
        Return the language of the reader; a stranger's is that of the page.
        """
        reader = context.get("user", self.request.user)
        if reader.is_authenticated:
            return str(reader.language)
        return formats.language()

    def render_mail(
        self,
        template_prefix: str,
        email: str | list[str],
        context: dict[str, Any],
        headers: dict[str, str] | None = None,
    ) -> EmailMessage:
        context = {"email": email, **outbox.letterhead(), **context}
        if done_at := context.get("timestamp"):
            language = formats.language()
            context["done_at"] = f"{formats.date_time(done_at, language, UTC)} UTC"
        message = super().render_mail(template_prefix, email, context, headers)
        assert isinstance(message, EmailMultiAlternatives)
        if not message.alternatives:
            message.attach_alternative(outbox.as_html(message), "text/html")
        return message


class MFAAdapter(DefaultMFAAdapter):
    """
    Keep second factors unreadable in the database and its backups.
    """

    def encrypt(self, text: str) -> str:
        return _seal().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _seal().decrypt(encrypted_text.encode()).decode()


def _seal() -> MultiFernet:
    """
    Return the seal made from the site's secret key; older keys still open it.
    """
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = [
        hashlib.sha256(f"marketplace.mfa:{secret}".encode()).digest()
        for secret in secrets
    ]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in digests])
