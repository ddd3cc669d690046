"""
How fast a tick bills, against what else could do it on the same server.

``python -m bench.tick`` measures it with 1 000, 10 000 and 100 000 running meters,
without and with a million earlier charges. Each figure is a ratio of medians of runs
that took turns: against one hand-written statement that makes the same postings in the
same tables, and against django-hordak's transfer_to one by one and its models in bulk.
Books that are wrong afterwards score nothing.
"""

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Callable

from bench import servers
from bench.hordak import Hordak

BARS = {"hand-written": 0.9, "hordak one by one": 15.0, "hordak in bulk": 2.0}
AGAIN = 0.1
SIZES = [(1_000, 0), (10_000, 0), (100_000, 0), (10_000, 1_000_000)]
ONE_BY_ONE_AT_MOST = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--meters", type=int)
    parser.add_argument("--earlier", type=int, default=0)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    if options.meters:
        measure(options.meters, options.earlier, options.runs)
        return
    for meters, earlier in SIZES:
        # A process and a server of its own for each: none inherits another's caches.
        arguments = ["--meters", str(meters), "--earlier", str(earlier)]
        command = [sys.executable, "-m", "bench.tick", *arguments]
        subprocess.run([*command, "--runs", str(options.runs)], check=True)  # noqa: S603


def measure(meters: int, earlier: int, runs: int) -> None:
    with servers.running() as environment:
        os.environ.update(environment)
        servers.prepare_django()
        # Django reads its settings when these are imported.
        from bench.contest import Contest  # noqa: PLC0415

        contest = Contest(meters, earlier)
        with Hordak(contest.server(), accounts=contest.holds) as hordak:
            one_by_one = min(meters, ONE_BY_ONE_AT_MOST)
            times = take_turns(
                {
                    "tick": contest.tick,
                    "hand-written": contest.handwritten,
                    "hordak in bulk": lambda: hordak.run("bulk", meters),
                    "hordak one by one": lambda: (
                        hordak.run("one_by_one", one_by_one) * (meters / one_by_one)
                    ),
                },
                runs,
            )
        times["tick again"] = contest.again
        report(meters, earlier, times, are_books_right=contest.are_books_right())


def take_turns(
    contestants: dict[str, Callable[[], float]], runs: int
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in contestants}
    order = list(contestants)
    for run in range(runs):
        # Whoever is first meets the emptiest caches, so that goes round.
        turn = run % len(order)
        for name in order[turn:] + order[:turn]:
            times[name].append(contestants[name]())
    return times


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def report(
    meters: int, earlier: int, times: dict[str, list[float]], *, are_books_right: bool
) -> None:
    say(f"\n{meters} meters, {earlier} earlier charges")
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        low, _, high = statistics.quantiles(values, n=4)
        say(
            f"  {name:18} {medians[name] * 1000:10.1f} ms"
            f"  (half of the runs {low * 1000:.1f} to {high * 1000:.1f})"
        )
    if not are_books_right:
        say("  The books are wrong: 0")
        return
    for name, bar in BARS.items():
        ratio = medians[name] / medians["tick"]
        verdict = "reached" if ratio >= bar else "MISSED"
        say(f"  {ratio:8.2f} x {name}, the bar is {bar}: {verdict}")
    share = medians["tick again"] / medians["tick"]
    verdict = "reached" if share <= AGAIN else "MISSED"
    say(
        f"  {share:8.1%} of the first run for the second, at most {AGAIN:.0%}: {verdict}"
    )


if __name__ == "__main__":
    main()
