"""
What time brings about, and how it goes wrong.

Ticks are lost, doubled and killed; the provider's events come late, twice and out of
order, and whoever acts on them may die.
"""

import json

from billing.failpoints import armed
from billing.gateways import sandbox
from billing.models import SandboxDelivery, TopUp
from billing.services.events import process_due, process_event, store_event
from billing.services.tick import run_tick
from tests.billing.simulator.units import DAY, HOUR, in_cents, moment


class Killed(BaseException):
    """
    The process died here.
    """


class Machines:
    def wait(self):
        longest = self.random.choice([HOUR // 2, 3 * HOUR, 30 * HOUR, 2 * DAY])
        self.at += self.random.randint(1, longest)
        sandbox.settle_due(at=moment(self.at))
        fate = self.random.choice(["lost", "once", "once", "twice", "killed"])
        if fate == "lost":
            return fate
        if fate == "killed":
            self.kill_a_tick()
        for _ in range(2 if fate == "twice" else 1):
            run = run_tick(at=moment(self.at))
            assert run.failures == []
        self.market.tick(self.at)
        return fate

    def kill_a_tick(self):
        def die():
            raise Killed

        name = self.random.choice(
            ["tick.after_locks", "tick.before_commit", "tick.after_commit"]
        )
        armed[name] = die
        try:
            run_tick(at=moment(self.at))
        except Killed:
            self.log.append(f"killed at {name}")
        finally:
            del armed[name]

    def deliver(self):
        rows = list(SandboxDelivery.objects.filter(delivered_at=None).order_by("pk"))
        if not rows:
            return None
        self.random.shuffle(rows)
        fates = []
        for row in rows:
            fate = self.random.choice(["lost", "once", "twice"])
            fates.append(fate)
            if fate != "lost":
                self.send(row, 2 if fate == "twice" else 1)
        return fates

    def send(self, row, times=1):
        content = json.loads(row.body)
        for _ in range(times):
            event = store_event(
                provider="sandbox",
                body=row.body,
                event_id=content["id"],
                kind=content["type"],
                at=moment(self.at),
            )
            if self.random.random() < 0.8:
                process_event(event_id=event.pk, at=moment(self.at))
            process_due(at=moment(self.at))
            self.credit_what_arrived(row.payment)
        SandboxDelivery.objects.filter(pk=row.pk).update(delivered_at=moment(self.at))

    def credit_what_arrived(self, payment):
        """
        Whatever the event says: the payment is fetched, so it counts as it is now.
        """
        payment.refresh_from_db()
        top_up = TopUp.objects.get(uuid=payment.client_reference)
        if payment.state == "PAID" and not self.top_ups[top_up.pk]:
            self.top_ups[top_up.pk] = True
            self.purse_of(top_up).available += in_cents(top_up.net)
