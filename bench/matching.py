"""
How long the rule of the order book takes for a hundred thousand requests.

``python -m bench.matching`` makes a book of 100,000 requests and 10,000 offers, in
three currencies, five regions and four sizes of node, plays it and holds the time
against the bar. It is the pure rule: no database is read or written. The peak of
memory is that of the whole process, book included.
"""

import argparse
import os
import resource
import sys
import time

REQUESTS = 100_000
OFFERS = 10_000
SECONDS = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--offers", type=int, default=OFFERS)
    options = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings_test"
    # Money reads Django's settings when it is imported.
    from bench import book  # noqa: PLC0415
    from marketplace.matching import match_book  # noqa: PLC0415

    bids, asks = book.build(requests=options.requests, offers=options.offers)
    book_mb = peak_mb()
    start, busy = time.perf_counter(), time.process_time()
    pairings = match_book(bids=bids, asks=asks, at=book.AT)
    seconds, work = time.perf_counter() - start, time.process_time() - busy
    book.check(bids, asks, pairings)
    verdict = "reached" if seconds <= SECONDS else "MISSED"
    say(f"{len(bids)} requests, {len(asks)} offers, load {os.getloadavg()[0]:.1f}")
    say(
        f"  {len(pairings)} matches in {seconds:.2f} s (bar {SECONDS:.0f} s),"
        f" {work:.2f} s of work, peak {peak_mb():.0f} MB, of which the book {book_mb:.0f} MB  {verdict}"
    )


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
