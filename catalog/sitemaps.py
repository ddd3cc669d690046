"""
What search engines are told to read: the public pages of the catalog, by language.
"""

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.db.models import Max, QuerySet
from django.urls import reverse

from catalog.models import GpuModel, Workload


class PublicSitemap(Sitemap):
    """
    Pages under the site's own address, each with its other languages.
    """

    i18n = True
    alternates = True
    x_default = True

    def get_protocol(self, protocol: str | None = None) -> str:
        return urlsplit(settings.SITE_URL).scheme

    def get_domain(self, site: Any = None) -> str:
        return urlsplit(settings.SITE_URL).netloc


class PagesSitemap(PublicSitemap):
    """
    Pages without an argument, by their URL name.
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def items(self) -> list[str]:
        return [*self.names]

    def location(self, item: str) -> str:
        return reverse(item)


class GpuSitemap(PublicSitemap):
    def items(self) -> QuerySet[GpuModel]:
        return GpuModel.objects.order_by("slug")

    def location(self, item: GpuModel) -> str:
        return reverse("catalog:gpu", args=[item.slug])


class WorkloadSitemap(PublicSitemap):
    def items(self) -> QuerySet[Workload]:
        return (
            Workload.objects.filter(is_published=True, texts__is_published=True)
            .annotate(changed_at=Max("texts__published_at"))
            .order_by("position")
        )

    def location(self, item: Workload) -> str:
        return reverse("catalog:workload", args=[item.slug])

    def lastmod(self, item: Any) -> datetime | None:
        return item.changed_at  # type: ignore[no-any-return]


SITEMAPS = {
    "catalog": PagesSitemap(
        "catalog:planner", "catalog:gpus", "catalog:workloads", "catalog:api"
    ),
    "gpus": GpuSitemap(),
    "workloads": WorkloadSitemap(),
}
