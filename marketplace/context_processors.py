from collections.abc import Callable
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import translate_url
from django.utils.translation import get_language, get_language_info
from djmoney.money import Money

import clock
import formats
from billing import services as billing
from marketplace.models import Launch


def site(request: HttpRequest) -> dict[str, Any]:
    """
    Return what every page needs to know of the site.

    What costs a query is a function: it is asked once, by the pages that show it.
    """
    addresses = cache(lambda: _addresses(request.get_full_path()))
    return {
        "SITE_NAME": settings.SITE_NAME,
        "DEMO": settings.DEMO,
        "launch": cache(_launch),
        "wallet_pill": _wallet_pill(request),
        "languages_here": cache(lambda: _languages(addresses())),
        "page_links": cache(lambda: _page_links(request, addresses)),
    }


def _launch() -> dict[str, Any]:
    launch = Launch.objects.current()
    opens_in = launch.opens_at - clock.now() if launch.opens_at else None
    return {
        "is_open": launch.is_open,
        "opened_at": launch.opened_at,
        "opens_at": launch.opens_at,
        # A planned time that has passed is no countdown any more.
        "opens_in": opens_in if opens_in and opens_in.total_seconds() > 0 else None,
        "pause_reason": launch.pause_reason,
    }


def _wallet_pill(request: HttpRequest) -> Callable[[], Money | None]:
    @cache
    def available() -> Money | None:
        user = getattr(request, "user", None)
        if user is None or not user.is_authenticated:
            return None
        wallets = billing.wallets_of(user_id=user.pk)
        return next(
            (
                wallet.available
                for wallet in wallets
                if wallet.currency == user.currency
            ),
            None,
        )

    return available


def _addresses(path: str) -> dict[str, str]:
    """
    Return the address of this page in each language.
    """
    return {code: translate_url(path, code) for code, _name in settings.LANGUAGES}


def _languages(addresses: dict[str, str]) -> list[dict[str, Any]]:
    """
    Return the languages of the site, each with the address of this page in it.
    """
    return [
        {
            "code": code,
            "name": _own_name(code),
            "url": url,
            "is_current": code == get_language(),
        }
        for code, url in addresses.items()
    ]


def _page_links(
    request: HttpRequest, addresses: Callable[[], dict[str, str]]
) -> dict[str, Any] | None:
    """
    Return the addresses of a public page for search engines, without its query.

    A page that needs a log-in has none.
    """
    match = request.resolver_match
    if match is None or getattr(match.func, "login_required", True):
        return None
    here = {
        code: f"{settings.SITE_URL}{url.partition('?')[0]}"
        for code, url in addresses().items()
    }
    language = formats.language()
    alternates = [*here.items(), ("x-default", here[settings.LANGUAGE_CODE])]
    return {
        "name": settings.SITE_NAME,
        "site": settings.SITE_URL,
        "canonical": here[language],
        "alternates": [{"code": code, "url": url} for code, url in alternates],
        "locale": formats.LOCALES[language],
        "other_locales": [
            locale for code, locale in formats.LOCALES.items() if code != language
        ],
    }


def _own_name(code: str) -> str:
    name: str = get_language_info(code)["name_local"]
    return name[0].upper() + name[1:]
