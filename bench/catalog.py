"""
How fast the catalog's pages are with ten thousand offers, and a file that prices all.

``python -m bench.catalog`` fills a catalog of its own, asks for each page a hundred
times through the whole of Django, middleware included, and holds the number of queries
and the times against the bars. Other work on the machine lengthens the times: the load
is printed with them, and so is the processor time of the page without PostgreSQL.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable

from bench import servers

OFFERS = 10_000
QUERIES = 10
P95_MS = 50.0
IMPORT_SECONDS = 30.0
FILE_P95_MS = 500.0
PLAN = "/planner/?model=meta-llama-3-1-8b&method=lora&sequence_length=4096"
PAGES = {
    "home": "/",
    "planner": "/planner/",
    "planner, a part": PLAN,
    "GPUs": "/gpus/",
    "GPUs, filtered": "/gpus/?memory_from=24&sort=per-gb&free=on",
    "GPU": "/gpus/rtx-4090/",
    "compare": "/gpus/compare/?gpu=rtx-4090&gpu=l40s&gpu=h100-sxm&gpu=b200",
    "a year of prices": "/gpus/rtx-4090/?days=365",
    "prices as CSV": "/gpus/rtx-4090/prices.csv",
    "availability": "/availability/",
    "guides": "/workloads/",
    **{
        f"guide {slug}": f"/workloads/{slug}/"
        for slug in (
            "fine-tuning",
            "llm-training",
            "inference",
            "image-and-video",
            "3d-rendering",
            "scientific-computing",
        )
    },
    "estimates": "/how-good-are-our-estimates/",
    "market": "/market/",
    "market of a GPU": "/market/rtx-4090/",
    "sitemap": "/sitemap.xml",
    "API page": "/api/",
    "API: GPUs": "/api/v1/gpus",
    "API: offers": "/api/v1/offers?limit=200",
    "API: history": "/api/v1/gpus/rtx-4090/price-history?days=365",
    "API: estimate": "/api/v1/estimate",
    "API: cost": "/api/v1/gpus/rtx-4090/cost?storage_gb=200",
}
# What htmx asks for.
PARTS = ("planner, a part", "GPUs, filtered")
# Every live offer at once, for programs that come by the hour.
FILES = {
    "offers as CSV": "/api/v1/offers.csv",
    "for gpuhunt": "/api/v1/catalogs/gpuhunt.csv",
    "for SkyPilot": "/api/v1/catalogs/skypilot.csv",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--offers", type=int, default=OFFERS)
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    with servers.running() as environment:
        os.environ.update(environment, API_CALLS_PER_MINUTE="1000000")
        servers.prepare_django()
        # Django reads its settings when these are imported.
        from bench import crowd  # noqa: PLC0415
        from config.warm_up import warm_up  # noqa: PLC0415

        crowd.build(options.offers)
        # As config.wsgi does it for the web's processes.
        warm_up()
        load = os.getloadavg()[0]
        say(f"{options.offers} offers, {options.runs} runs, load {load:.1f}")
        for name, path in {**PAGES, **FILES}.items():
            visit = crowd.visitor(path, is_part=name in PARTS)
            report(name, crowd.queries_of(visit), *measure(visit, options.runs))
        report_import(*crowd.price_all())


def measure(visit: Callable[[], None], runs: int) -> tuple[list[float], list[float]]:
    """
    Return, in ms, how long each visit took and what of it was the page's own work.
    """
    times, work = [], []
    for _ in range(runs):
        start, busy = time.perf_counter(), time.process_time()
        visit()
        work.append((time.process_time() - busy) * 1000)
        times.append((time.perf_counter() - start) * 1000)
    return times, work


def report(name: str, queries: int, times: list[float], work: list[float]) -> None:
    p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    bar = FILE_P95_MS if name in FILES else P95_MS
    is_reached = queries <= QUERIES and p95 <= bar
    say(
        f"  {name:26} {queries:3} queries  p50 {p50:6.1f} ms  p95 {p95:6.1f} ms"
        f"  own work {statistics.median(work):6.1f} ms"
        f"  {'reached' if is_reached else 'MISSED'}"
    )


def report_import(lines: int, planned: float, saved: float) -> None:
    verdict = "reached" if planned + saved <= IMPORT_SECONDS else "MISSED"
    say(
        f"  a file of {lines} prices: looked at in {planned:.1f} s,"
        f" saved in {saved:.1f} s  {verdict}"
    )


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
