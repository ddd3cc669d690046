"""
How calls go wrong: processes that die before or after their commit, and calls twice.
"""

from contextlib import contextmanager

from django.db import connection, transaction

from billing import services as billing
from billing.services.freezes import DebtLeft, DisputeOpen
from billing.services.refunds import RefundRefused
from catalog import services as catalog
from tests.simulator.books import Refused
from workspaces import services as workspaces

REFUSALS = (
    DebtLeft,
    DisputeOpen,
    RefundRefused,
    billing.HoldEnded,
    billing.HoldInUse,
    billing.HoldTooSmall,
    billing.InsufficientFunds,
    billing.MeterEnded,
    billing.WalletFrozen,
    catalog.PriceRefused,
    workspaces.CannotExtend,
    workspaces.CannotQuote,
    workspaces.IllegalMove,
    workspaces.NothingToKeep,
    workspaces.QuoteExpired,
)


class Killed(BaseException):
    """
    The process died here.
    """


@contextmanager
def dying(statements):
    """
    Let the process die before it sends its next statement after so many.
    """
    left = statements

    def send_or_die(execute, *statement):
        nonlocal left
        left -= 1
        # What is rolled back then goes through here, too.
        if left == -1:
            raise Killed
        return execute(*statement)

    with connection.execute_wrapper(send_or_die):
        yield


class Calls:
    def key(self, name):
        self.number += 1
        return f"{name}:{self.number}"

    def attempt(self, verb, **arguments):
        """
        Call the verb, which may die before or after its commit and is then called again.
        """
        fate = self.random.random()
        if fate < 0.15:
            self.die_in(verb, **arguments)
        answer = verb(**arguments)
        if fate > 0.85:
            assert verb(**arguments) == answer, "The same key gave another answer."
        return answer

    def once(self, verb, **arguments):
        """
        Call a verb that can only be done once: what comes twice is refused.
        """
        fate = self.random.random()
        if fate < 0.1:
            self.die_in(verb, **arguments)
        answer = verb(**arguments)
        if fate > 0.9:
            try:
                with transaction.atomic():
                    verb(**arguments)
            except REFUSALS:
                return answer
            raise AssertionError("What was done was done again.")
        return answer

    def die_in(self, verb, **arguments):
        with transaction.atomic():
            verb(**arguments)
            # As if the process had died: nothing of it is left.
            transaction.set_rollback(True)
        self.log.append("  killed before the commit")

    def wake(self, task):
        """
        Do what beat wakes up: once, twice, or again after it died in the middle.
        """
        fate = self.random.choice(["once", "once", "once", "twice", "killed"])
        if fate == "killed":
            statements = self.random.randint(1, 60)
            try:
                with dying(statements):
                    task()
            except Killed:
                # What was not within a transaction died alone, not with the test's.
                transaction.set_rollback(False)
                self.log.append(f"  killed after {statements - 1} statements")
        for _ in range(2 if fate == "twice" else 1):
            task()
        return fate

    @contextmanager
    def refused_alike(self, rule):
        """
        Do the block only if the rule lets the model do its part, else see it refused.
        """
        try:
            rule()
        except Refused:
            try:
                with transaction.atomic():
                    yield
            except REFUSALS:
                self.log.append("  refused")
                return
            raise AssertionError(
                "The services allowed what the model refuses."
            ) from None
        yield
