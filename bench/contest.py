"""
The tick and the hand-written statement, billing by turns the hours of one ledger.
"""

import time

from django.db import connection, transaction

from bench import world
from bench.handwritten import BILL_ONE_HOUR
from billing.models import Hold
from billing.services import bill_due, check_books


class Contest:
    def __init__(self, meters: int, earlier: int) -> None:
        world.build(meters)
        self.meters = meters
        self.hour = 0
        self.again: list[float] = []
        self.holds = Hold.objects.count()
        for _ in range(earlier // meters):
            self.handwritten()
        world.settle()

    def server(self) -> dict[str, str]:
        """
        Return how to reach the server, for others to use it.
        """
        own = connection.settings_dict
        return {
            "host": own["HOST"],
            "port": str(own["PORT"]),
            "user": own["USER"],
            "password": own["PASSWORD"],
            "dbname": own["NAME"],
        }

    def tick(self) -> float:
        self.hour += 1
        at = world.hour(self.hour)
        start = time.perf_counter()
        run = bill_due(at=at)
        end = time.perf_counter()
        assert (run.charges, run.failures) == (self.meters, [])
        bill_due(at=at)
        self.again.append(time.perf_counter() - end)
        return end - start

    def handwritten(self) -> float:
        self.hour += 1
        start = time.perf_counter()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(BILL_ONE_HOUR, {"hour": world.hour(self.hour - 1)})
        return time.perf_counter() - start

    def are_books_right(self) -> bool:
        return check_books() == []
