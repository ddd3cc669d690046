"""
GPUs, regions and base models.
"""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_noop as _
from ninja import Query, Router

import clock
from catalog.api import parts, schemas
from catalog.api.parameters import GpuSlug, ListParameters, refuse_parameters
from catalog.best_asks import best_asks, best_asks_of
from catalog.guides import FitRow, fit_rows
from catalog.models import BaseModel, GpuModel, Region

router = Router()

REGION_FIELDS = ("slug", "name", "city", "country")
MODEL_FIELDS = (
    "slug",
    "name",
    "hf_id",
    "family",
    "total_params_b",
    "max_position_embeddings",
    "license",
    "source_url",
)


@router.get(
    "/gpus",
    response=schemas.Page[schemas.Gpu],
    url_name="gpus",
    summary=_("Every GPU with its figures and the best ask of each region"),
)
def list_gpus(request: HttpRequest, asked: Query[ListParameters]) -> dict[str, Any]:
    found = GpuModel.objects.order_by("slug")[asked.offset :][: asked.limit]
    rows = fit_rows(found, asks=best_asks(at=clock.now()))
    total = GpuModel.objects.count()
    return parts.page(request, asked, [_gpu(row) for row in rows], total=total)


@router.get(
    "/gpus/{slug}",
    response=schemas.Gpu,
    url_name="gpu",
    summary=_("One GPU"),
)
def get_gpu(request: HttpRequest, slug: str = GpuSlug) -> dict[str, Any]:
    refuse_parameters(request)
    gpu = parts.find_gpu(slug)
    asks = best_asks_of(gpu_id=gpu.pk, at=clock.now())
    return _gpu(fit_rows([gpu], asks={gpu.pk: asks})[0])


@router.get(
    "/regions",
    response=schemas.Page[schemas.Region],
    url_name="regions",
    summary=_("Every region"),
)
def list_regions(request: HttpRequest, asked: Query[ListParameters]) -> dict[str, Any]:
    rows = Region.objects.order_by("slug").values_list(*REGION_FIELDS, named=True)
    items = [
        {
            "slug": row.slug,
            "name": row.name,
            "city": row.city,
            "country_code": row.country,
        }
        for row in rows[asked.offset :][: asked.limit]
    ]
    return parts.page(request, asked, items, total=Region.objects.count())


@router.get(
    "/models",
    response=schemas.Page[schemas.BaseModel],
    url_name="models",
    summary=_("Every base model that an estimate can be asked for"),
)
def list_models(request: HttpRequest, asked: Query[ListParameters]) -> dict[str, Any]:
    listed = BaseModel.objects.filter(is_listed=True)
    rows = listed.order_by("slug").values_list(*MODEL_FIELDS, named=True)
    items = [
        {
            "slug": row.slug,
            "name": row.name,
            "hugging_face_id": row.hf_id,
            "family": row.family,
            "billion_parameters": parts.figure(row.total_params_b),
            "context_tokens": row.max_position_embeddings,
            "license": row.license,
            "source_url": row.source_url,
        }
        for row in rows[asked.offset :][: asked.limit]
    ]
    return parts.page(request, asked, items, total=listed.count())


def _gpu(row: FitRow) -> dict[str, Any]:
    gpu = row.gpu
    return {
        "slug": gpu.slug,
        "name": gpu.name,
        "label": gpu.label,
        "vendor": gpu.vendor,
        "architecture": gpu.architecture,
        "form_factor": gpu.form_factor,
        "memory_gb": parts.figure(gpu.memory_gb),
        "memory_type": gpu.memory_type,
        "memory_bandwidth_gb_per_s": gpu.bandwidth_gbs,
        "fp8_dense_tflops": parts.figure(gpu.fp8_tflops),
        "fp16_dense_tflops": parts.figure(gpu.fp16_tflops),
        "bf16_dense_tflops": parts.figure(gpu.bf16_tflops),
        "fp32_dense_tflops": parts.figure(gpu.fp32_tflops),
        "fp64_dense_tflops": parts.figure(gpu.fp64_tflops),
        "power_limit_w": parts.figure(gpu.tdp_w),
        "gpu_link": gpu.nvlink,
        "launch_year": gpu.launch_year,
        "source_url": gpu.source_url,
        "page_url": parts.absolute(reverse("catalog:gpu", args=[gpu.slug])),
        "rule_of_thumb": {
            "qlora_billion_parameters": row.qlora_b,
            "lora_billion_parameters": row.lora_b,
            "full_billion_parameters": row.full_b,
        },
        "best_asks": [parts.best_ask(ask) for ask in row.asks],
    }
