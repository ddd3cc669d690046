"""
What suppliers do at their desk, and what happens to their nodes.
"""

from decimal import Decimal

from djmoney.money import Money

from catalog import services as catalog
from marketplace import services as marketplace
from tests.simulator.market import Offer, Price
from tests.simulator.stage import SUPPLIERS
from tests.simulator.units import DAY, moment
from workspaces import services as workspaces
from workspaces.models.events import INTERRUPTIONS

ASKS = [800_000, 833_300, 900_000, 950_000, 1_000_000, 1_000_100, 1_200_000]
ADDRESS = "root@10.0.0.7:22022"


class Suppliers:
    def nodes_of(self, offer):
        return catalog.Nodes(
            gpu_id=offer.gpu,
            region_id=self.stage.regions[offer.region],
            gpus_per_node=offer.gpus,
            nodes=offer.nodes,
            cpu_cores=16,
            ram_gb=64,
            disk_gb=1000,
            network_gbps=Decimal(10),
            cuda_version="12.8",
            ask=self.ask_of(offer),
            floor=None,
            available_until=None if offer.until is None else moment(offer.until),
        )

    def ask_of(self, offer):
        ask = offer.price_at(self.at).ask
        return Money(Decimal(ask) / 1_000_000, offer.currency)

    def one_at_a_desk(self):
        """
        Draw an offer that its supplier looks after, listed or not.
        """
        return self.random.choice(
            [offer for offer in self.market.offers if not offer.is_simulated]
        )

    def draw_terms(self, offer):
        """
        Change what an offer of the model says: its ask, its nodes, until when.
        """
        is_other = self.random.random() < 0.5
        ask = offer.price_at(self.at).ask
        offer.set_ask(self.random.choice(ASKS) if is_other else ask, self.at)
        self.draw_nodes(offer)

    def draw_nodes(self, offer):
        if self.random.random() < 0.5:
            offer.nodes = self.random.choice([1, 1, 2, 3])
        if self.random.random() < 0.3:
            days = self.random.choice([None, 1, 5])
            offer.until = days and self.at + days * DAY

    def change_offer(self):
        offer = self.one_at_a_desk()
        if offer.is_removed:
            return None
        self.draw_terms(offer)
        self.attempt(
            catalog.change_nodes,
            offer_id=offer.id,
            wanted=self.nodes_of(offer),
            actor=None,
            at=moment(self.at),
        )
        return f"{offer.id}: {offer.nodes} nodes at {self.ask_of(offer)}"

    def schedule_price(self):
        """
        Let staff set a price that holds later, whatever is asked until then.
        """
        offer = self.random.choice(self.market.offers)
        price = Price(
            since=self.at + self.random.randint(1, 2 * DAY),
            ask=self.random.choice(ASKS),
            confirmed_at=self.at,
        )
        self.once(
            catalog.set_price,
            offer_id=offer.id,
            hourly_price=Money(Decimal(price.ask) / 1_000_000, offer.currency),
            valid_from=moment(price.since),
            actor=self.stage.staff,
            at=moment(self.at),
        )
        offer.prices.append(price)
        return f"{offer.id}: {price.ask} from {moment(price.since)}"

    def take_off_or_put_on(self):
        offer = self.one_at_a_desk()
        at = moment(self.at)
        if offer.is_removed:
            return self.list_again(offer)
        if offer.is_paused:
            self.attempt(catalog.resume_nodes, offer_id=offer.id, at=at)
            offer.is_paused, offer.listed_at = False, self.at
            return f"{offer.id} resumed"
        if self.random.random() < 0.6:
            self.attempt(catalog.pause_nodes, offer_id=offer.id, at=at)
            offer.is_paused = True
            return f"{offer.id} paused"
        self.attempt(catalog.remove_nodes, offer_id=offer.id, at=at)
        offer.is_removed = True
        return f"{offer.id} removed"

    def list_again(self, offer):
        self.draw_terms(offer)
        catalog.list_nodes(
            supplier_id=self.stage.suppliers[offer.payee],
            wanted=self.nodes_of(offer),
            actor=None,
            at=moment(self.at),
        )
        offer.is_removed = offer.is_paused = False
        offer.listed_at = self.at
        return f"{offer.id} listed again"

    def list_more(self):
        """
        List nodes of a kind that nobody lists yet.
        """
        kinds = {(o.payee, o.gpu, o.gpus, o.region) for o in self.market.offers}
        payee = self.random.choice([*SUPPLIERS])
        gpu = self.random.choice(self.stage.gpus)
        gpus, region = (
            self.random.choice([1, 2]),
            self.random.choice(["north", "south"]),
        )
        if (payee, gpu.pk, gpus, region) in kinds:
            return None
        offer = Offer(
            id=0,
            payee=payee,
            gpu=gpu.pk,
            gpus=gpus,
            region=region,
            nodes=1,
            ask=self.random.choice(ASKS),
            currency="USD",
            listed_at=self.at,
        )
        self.market.offers.append(offer)
        self.draw_nodes(offer)
        row = catalog.list_nodes(
            supplier_id=self.stage.suppliers[payee],
            wanted=self.nodes_of(offer),
            actor=None,
            at=moment(self.at),
        )
        offer.id = row.pk
        return f"{offer.id}: {offer.nodes} nodes at {self.ask_of(offer)}"

    def answer_starts(self):
        """
        Suppliers confirm what starts on their nodes, or say that it does not, or sleep.
        """
        starting = [
            request
            for request in self.market.in_states("MATCHED", "PROVISIONING")
            if not request.offer.is_simulated
        ]
        if not starting:
            return None
        answers = [self.answer_start(request) for request in starting]
        self.shorten()
        return answers

    def answer_start(self, request):
        at = moment(self.at)
        answer = self.random.choice(["ready", "ready", "ready", "fails", "sleeps"])
        if request.state == "MATCHED" and self.random.random() < 0.8:
            return "sleeps"
        if answer == "ready":
            with self.refused_alike(lambda: request.ready(self.at)):
                self.once(
                    workspaces.start_workspace,
                    workspace_id=request.id,
                    address=ADDRESS,
                    at=at,
                )
        elif answer == "fails":
            with self.refused_alike(lambda: request.fail(self.at)):
                self.once(
                    workspaces.fail_workspace,
                    workspace_id=request.id,
                    reason="It did not boot.",
                    at=at,
                )
        return answer

    def break_off(self):
        request = self.one_of("RUNNING")
        if request is None:
            return None
        is_withdrawn = self.random.random() < 0.4
        with self.refused_alike(lambda: request.interrupt(self.at, is_withdrawn)):
            self.once(
                workspaces.interrupt_workspace,
                workspace_id=request.id,
                code=self.random.choice(INTERRUPTIONS),
                at=moment(self.at),
                is_withdrawn=is_withdrawn,
            )
        self.shorten()
        return f"{request.id}{' withdrawn' if is_withdrawn else ''}"

    def open_or_pause(self):
        at = moment(self.at)
        if not self.market.is_open:
            self.wake(lambda: marketplace.open_market(actor=None, at=at))
            self.market.is_open = True
            self.market.match(self.at)
            return "open"
        if self.random.random() < 0.92:
            return None
        marketplace.pause_market(actor=self.stage.staff, reason="A storm.", at=at)
        self.market.is_open = False
        return "paused"
