"""
What pages say of themselves to search engines: schema.org descriptions, as plain data.
"""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from catalog.asks import Ask
from catalog.guides import Guide, ShortlistItem
from catalog.models import GpuModel, WorkloadBlock
from money import plain

CONTEXT = "https://schema.org"
# UN/CEFACT's code of an hour.
HOUR = "HUR"


def describe_guide(guide: Guide) -> dict[str, Any]:
    """
    Describe a guide: the article, its way back up, its questions, its GPUs with prices.
    """
    here = absolute(reverse("catalog:workload", args=[guide.workload.slug]))
    return {
        "@context": CONTEXT,
        "@graph": [
            _article(guide, here=here),
            _crumbs(guide, here=here),
            _questions(guide.blocks["question"], here=here),
            _products(guide.shortlist, here=here),
        ],
    }


def describe_gpu(gpu: GpuModel, asks: Iterable[Ask]) -> dict[str, Any]:
    """
    Describe a GPU and what it is offered for by the hour.
    """
    return {"@context": CONTEXT, **_product(gpu, asks)}


def absolute(path: str) -> str:
    """
    Return the full address of a page of this site.
    """
    return f"{settings.SITE_URL}{path}"


def _article(guide: Guide, *, here: str) -> dict[str, Any]:
    text = guide.text
    desk = {"@type": "Organization", "name": text.reviewed_by}
    return {
        "@type": "TechArticle",
        "@id": f"{here}#article",
        "url": here,
        "headline": text.title,
        "description": text.summary,
        "inLanguage": text.language,
        "dateModified": text.reviewed_date.isoformat(),
        "author": desk,
        "publisher": {
            "@type": "Organization",
            "name": settings.SITE_NAME,
            "url": absolute("/"),
        },
        "citation": [block.url for block in guide.blocks["source"]],
    }


def _crumbs(guide: Guide, *, here: str) -> dict[str, Any]:
    steps = [
        (_("Workloads"), absolute(reverse("catalog:workloads"))),
        (guide.text.title, here),
    ]
    return {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": number, "name": str(name), "item": url}
            for number, (name, url) in enumerate(steps, start=1)
        ],
    }


def _questions(blocks: Iterable[WorkloadBlock], *, here: str) -> dict[str, Any]:
    return {
        "@type": "FAQPage",
        "@id": f"{here}#questions",
        "mainEntity": [
            {
                "@type": "Question",
                "name": block.title,
                "acceptedAnswer": {"@type": "Answer", "text": block.body},
            }
            for block in blocks
        ],
    }


def _products(items: Iterable[ShortlistItem], *, here: str) -> dict[str, Any]:
    return {
        "@type": "ItemList",
        "@id": f"{here}#shortlist",
        "itemListElement": [
            {
                "@type": "ListItem",
                "position": number,
                "item": {**_product(item.gpu, item.asks), "description": item.use},
            }
            for number, item in enumerate(items, start=1)
        ],
    }


def _product(gpu: GpuModel, asks: Iterable[Ask]) -> dict[str, Any]:
    here = absolute(reverse("catalog:gpu", args=[gpu.slug]))
    product = {
        "@type": "Product",
        "@id": f"{here}#product",
        "name": f"{gpu.vendor} {gpu.name}",
        "url": here,
        "brand": {"@type": "Brand", "name": gpu.vendor},
        "category": "GPU",
    }
    offers = [_offer(ask, here=here) for ask in asks]
    # Without a live ask there is no price to name.
    return {**product, "offers": offers} if offers else product


def _offer(ask: Ask, *, here: str) -> dict[str, Any]:
    price = {"price": plain(ask.rate.amount), "priceCurrency": ask.rate.currency.code}
    stock = "LimitedAvailability" if ask.is_few else "InStock"
    return {
        "@type": "Offer",
        "url": here,
        **price,
        "priceSpecification": {
            "@type": "UnitPriceSpecification",
            **price,
            "unitCode": HOUR,
            "valueAddedTaxIncluded": False,
        },
        "businessFunction": "http://purl.org/goodrelations/v1#LeaseOut",
        "availability": f"{CONTEXT}/{stock}",
        "areaServed": ask.region.name,
        "seller": {"@type": "Organization", "name": ask.supplier},
    }
