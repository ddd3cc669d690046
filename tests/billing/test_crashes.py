"""
The rows of the fault matrix that need a PostgreSQL to lose: crashes, a full disk, a
backup. After each the books are right, and what was said to be done is there.
"""

import os
import signal
import threading

import pytest
from django.db import OperationalError, connection

from billing.models import Hold
from billing.services import check_books, place_hold
from tests.billing.conftest import NOON, usd
from tests.billing.spare import Spare, back_up, pointed_at, restore

pytestmark = pytest.mark.django_db(transaction=True)


def hold_one(wallet, number):
    place_hold(
        user_id=wallet.user_id,
        amount=usd("0.01"),
        reference=f"w:{number}",
        key=f"w:{number}",
        at=NOON,
    )
    return f"w:{number}"


class Load:
    """
    Places one hold after the other, each again until it is answered.
    """

    def __init__(self, wallet):
        self.done, self.errors = [], 0
        self.wallet, self.is_over = wallet, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_error):
        self.is_over.set()
        self.thread.join(60)

    def run(self):
        while not self.is_over.is_set():
            try:
                self.done.append(hold_one(self.wallet, len(self.done)))
            except OperationalError:
                self.errors += 1
                connection.close()
                self.is_over.wait(0.05)
        connection.close()

    def wait_for(self, count):
        """
        Wait until that many more holds are placed.
        """
        goal = len(self.done) + count
        for _ in range(1200):
            if len(self.done) >= goal:
                return
            self.is_over.wait(0.05)
        raise AssertionError("The load stands still.")


@pytest.fixture
def spare():
    spare = Spare()
    spare.start()
    yield spare
    spare.remove()


def test_fault_36_17_24_backups_crashes_and_a_full_disk(
    wallet, pay_in, spare, tmp_path
):
    """
    One walk, because making the second database is what takes the time.
    """
    pay_in("1000")
    with Load(wallet) as load:
        load.wait_for(5)
        back_up(spare, tmp_path / "backup")
        load.wait_for(5)
    assert load.errors == 0
    restore(spare, tmp_path / "backup")

    with pointed_at(spare.cluster.sockets):
        kept = Hold.objects.count()
        assert 5 <= kept < len(load.done)
        assert check_books() == []
        for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            crash(spare, wallet, how)
        if not spare.is_small:
            pytest.skip("rows 36 and 17 hold; only root can make a small disk for 24")
        fill_disk(spare, wallet)


def crash(spare, wallet, how):
    """
    Row 17: stop the server under load, fast, at once and by a kill.
    """
    with Load(wallet) as load:
        load.wait_for(5)
        spare.end(how)
        spare.start()
        load.wait_for(5)

    # This thread's own connection ended with the server.
    connection.close()
    assert load.errors > 0
    assert set(load.done) <= set(Hold.objects.values_list("reference", flat=True))
    assert check_books() == []


def fill_disk(spare, wallet):
    """
    Row 24: no room for the log, so that the server gives up in the middle.
    """
    before = Hold.objects.count()
    rest = os.statvfs(spare.place)
    (spare.place / "rest").write_bytes(bytes(rest.f_bavail * rest.f_frsize))
    said = fill_log(wallet)

    connection.close()
    (spare.place / "rest").unlink()
    spare.end(signal.SIGQUIT)
    spare.start()
    # The last one may be there although nobody was told.
    assert Hold.objects.count() - before in {said, said + 1}
    assert check_books() == []
    hold_one(wallet, "room")


def fill_log(wallet):
    """
    Place holds until the server cannot, and return how many it said are placed.
    """
    for number in range(20_000):
        try:
            hold_one(wallet, f"full:{number}")
        except OperationalError:
            return number
    raise AssertionError("The disk never became full.")
