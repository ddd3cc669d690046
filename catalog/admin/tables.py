"""
What the catalog knows of hardware, software, suppliers and guides.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.db import models
from django.utils.translation import gettext_lazy as _

import formats
from catalog.admin.base import ReadOnly
from catalog.models import (
    BaseModel,
    GpuModel,
    Image,
    Region,
    StoragePlan,
    Supplier,
    Workload,
    WorkloadGpu,
    WorkloadText,
)


class WithLinks:
    """
    Takes a link without a scheme for https.
    """

    formfield_overrides: Mapping[type[models.Field], Mapping[str, Any]] = {
        models.URLField: {"assume_scheme": "https"}
    }


@admin.register(GpuModel)
class GpuModelAdmin(WithLinks, admin.ModelAdmin):
    list_display = [
        "label",
        "name",
        "architecture",
        "memory_gb",
        "memory_type",
        "has_inline_ecc",
        "bandwidth_gbs",
        "form_factor",
    ]
    list_filter = ["vendor", "architecture", "form_factor"]
    search_fields = ["label", "name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    ordering = ["vendor", "label"]


@admin.register(BaseModel)
class BaseModelAdmin(WithLinks, admin.ModelAdmin):
    list_display = ["name", "hf_id", "family", "total_params_b", "is_listed"]
    list_filter = ["is_listed", "family"]
    search_fields = ["name", "hf_id"]
    ordering = ["family", "total_params_b"]


@admin.register(Region)
class RegionAdmin(admin.ModelAdmin):
    list_display = ["name", "city", "country", "slug"]
    search_fields = ["name", "city"]
    ordering = ["name"]


@admin.register(Supplier)
class SupplierAdmin(admin.ModelAdmin):
    list_display = ["name", "slug", "is_verified", "is_demo"]
    list_filter = ["is_verified", "is_demo"]
    search_fields = ["name", "slug"]
    ordering = ["name"]


@admin.register(StoragePlan)
class StoragePlanAdmin(admin.ModelAdmin):
    list_display = ["name", "price", "is_persistent", "kept_days_after", "is_listed"]
    ordering = ["position"]

    @admin.display(description=_("price per GB-month"), ordering="monthly_price")
    def price(self, plan: StoragePlan) -> str:
        return formats.rate(plan.monthly_price, formats.language())


@admin.register(Image)
class ImageAdmin(WithLinks, admin.ModelAdmin):
    list_display = ["name", "reference", "methods", "is_listed"]
    search_fields = ["name", "reference"]
    ordering = ["position"]


class WorkloadGpuInline(admin.TabularInline):
    model = WorkloadGpu
    ordering = ["position"]
    autocomplete_fields = ["gpu"]
    extra = 0


@admin.register(Workload)
class WorkloadAdmin(admin.ModelAdmin):
    list_display = ["slug", "table", "is_published", "position"]
    inlines = [WorkloadGpuInline]
    autocomplete_fields = ["example_gpu", "example_supplier"]
    ordering = ["position"]


@admin.register(WorkloadText)
class WorkloadTextAdmin(ReadOnly, admin.ModelAdmin):
    """
    Shows the versions; they are written on the staff's own pages.
    """

    list_display = ["title", "workload", "language", "number", "is_published", "note"]
    list_filter = ["is_published", "language", "workload"]
    list_select_related = ["workload"]
    search_fields = ["title", "blocks__title", "blocks__body"]
    ordering = ["workload__position", "language", "-number"]
