"""
What time brings about, and how it goes wrong.

What beat wakes up is lost, doubled and killed, in any order; the provider's events
come late, twice and out of order, and whoever acts on them may die.
"""

import hashlib
import json

from billing.failpoints import armed
from billing.gateways import sandbox
from billing.models import SandboxDelivery, TopUp
from billing.services.events import process_due, process_event, store_event
from billing.services.tick import run_tick
from marketplace import services as marketplace
from tests.simulator.calls import Killed
from tests.simulator.units import DAY, HOUR, in_cents, moment
from workspaces import services as workspaces

# Machines that do not exist: half an hour, more or less, and every other fails.
SIMULATED = {
    "SIMULATED_PROVISIONING_SECONDS": 600,
    "SIMULATED_PROVISIONING_SPREAD_SECONDS": 3000,
    "SIMULATED_FAILURE_PERCENT": 30,
    "SIMULATED_LATE_PERCENT": 20,
}
BAD_LUCK_PERCENT = 50


class Machines:
    def wait(self):
        if self.random.random() < 0.7:
            self.answer_starts()
        longest = self.random.choice([HOUR // 2, 3 * HOUR, 30 * HOUR, 2 * DAY])
        self.at += self.random.randint(1, longest)
        sandbox.settle_due(at=moment(self.at))
        tasks = [self.bill, self.match, self.provision, self.end_due]
        self.random.shuffle(tasks)
        return ", ".join(self.wake_up(task, lost=0.2) for task in tasks)

    def beat(self):
        """
        Wake up what the last deeds made due, without much time passing.
        """
        tasks = [self.match, self.provision, self.end_due]
        return ", ".join(self.wake_up(task, lost=0.1) for task in tasks)

    def wake_up(self, task, *, lost):
        is_lost = self.random.random() < lost
        return f"{task.__name__} {'lost' if is_lost else task()}"

    def bill(self):
        if self.random.random() < 0.1:
            self.kill_a_tick()

        def tick():
            assert run_tick(at=moment(self.at)).failures == []

        fate = self.wake(tick)
        self.books.tick(self.at)
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
            self.log.append(f"  killed at {name}")
        finally:
            del armed[name]

    def match(self):
        fate = self.wake(lambda: marketplace.match_market(at=moment(self.at)))
        self.market.match(self.at)
        return fate

    def provision(self):
        fate = self.wake(lambda: workspaces.provision_due(at=moment(self.at)))
        for request in self.market.in_states("MATCHED", "PROVISIONING"):
            if request.state == "MATCHED":
                request.provision(self.at)
            if request.offer.is_simulated:
                self.simulate(request)
            elif self.at >= request.provisioning_at + HOUR:
                request.put_back(self.at)
        self.shorten()
        return fate

    def simulate(self, request):
        """
        Let the machine take its time, and then be ready or not, as the settings say.
        """
        takes = SIMULATED["SIMULATED_PROVISIONING_SECONDS"]
        spread = SIMULATED["SIMULATED_PROVISIONING_SPREAD_SECONDS"]
        takes += self.draw_for(request, "delay") % (spread + 1)
        if self.at < request.provisioning_at + takes:
            return
        luck = self.draw_for(request, "luck") % 100
        if luck < SIMULATED["SIMULATED_FAILURE_PERCENT"]:
            request.fail(self.at)
        elif luck < BAD_LUCK_PERCENT:
            request.put_back(self.at)
        else:
            request.ready(self.at)

    def draw_for(self, request, what):
        """
        Draw what follows from the seed, the request and its offer alone.
        """
        told = f"{self.seed}:{request.id}:{request.offer.id}:{what}"
        return int.from_bytes(hashlib.sha256(told.encode()).digest()[:8], "big")

    def end_due(self):
        at = moment(self.at)

        def end():
            workspaces.stop_disputed(at=at)
            workspaces.end_due(at=at)

        fate = self.wake(end)
        if fate == "killed":
            # What ended long ago is stopped first, and deleted by the next call.
            end()
        for request in self.market.requests:
            if request.hold.is_open and request.hold.wallet.is_frozen:
                request.stop_disputed(self.at)
            for _ in range(1 if fate == "once" else 2):
                request.end_if_due(self.at)
        return fate

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
