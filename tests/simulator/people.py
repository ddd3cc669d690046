"""
What customers and staff do with money, each once to the services and once to the model.
"""

from djmoney.money import Money

from billing.gateways import sandbox
from billing.models import Payout, SandboxPayment, TopUp
from billing.services import disputes, freezes, payouts, refunds, top_ups
from tests.simulator.books import Refused
from tests.simulator.units import DAY, in_cents, moment, money

AMOUNTS = ["5.00", "31.17", "100.00"]
WAYS = ["pay", "pay", "pay", "decline", "later", "fail later"]


class People:
    def top_up(self, customer=None, amount=None, way=None):
        wallet, _ = customer or self.random.choice(self.buyers)
        net = Money(amount or self.random.choice(AMOUNTS), wallet.currency)
        try:
            quote = top_ups.start_top_up(
                user_id=wallet.user_id,
                net=net,
                email="renter@example.com",
                language="en",
                at=moment(self.at),
            )
        except top_ups.TopUpRefused:
            return None
        started = top_ups.confirm_top_up(top_up_id=quote.pk, at=moment(self.at))
        payment = SandboxPayment.objects.get(client_reference=str(started.uuid))
        way = way or self.random.choice(WAYS)
        self.pay_at_provider(payment.reference, way)
        self.top_ups[started.pk] = False
        return f"{net.amount} {way}"

    def pay_at_provider(self, reference, way):
        at = moment(self.at)
        if way == "pay":
            sandbox.pay(reference=reference, at=at)
        elif way == "decline":
            sandbox.decline(reference=reference, at=at)
        else:
            is_to_fail = way == "fail later"
            sandbox.pay_later(reference=reference, is_to_fail=is_to_fail, at=at)

    def refund(self):
        top_up, purse = self.paid_top_up()
        if top_up is None:
            return None
        net = self.random.randint(1, in_cents(top_up.net))

        def rule():
            if net > in_cents(top_up.refundable_net):
                raise Refused
            self.books.spend(purse, net)

        key = self.key("refund")
        with self.refused_alike(rule):
            self.attempt(
                refunds.refund_payment,
                top_up_id=top_up.pk,
                net=money(net, purse.currency),
                key=key,
                at=moment(self.at),
            )
        return net

    def dispute(self):
        top_up, purse = self.paid_top_up(refunded=0)
        if top_up is None:
            return None
        reference = top_up.payment_id.removeprefix("pi_")
        self.report(sandbox.dispute(reference=reference, at=moment(self.at)))
        if not purse.disputes:
            purse.is_frozen = True
        purse.disputes += 1
        purse.undecided += 1
        purse.available -= in_cents(top_up.net)
        # Whoever is frozen tries to spend what is left.
        self.fund(next(c for c in self.customers if c[1] is purse), hours=1)
        return top_up.pk

    def decide(self):
        rows = disputes.Dispute.objects.filter(status="OPEN").select_related("top_up")
        if not rows:
            return None
        row = self.random.choice(rows.order_by("pk"))
        is_won = self.random.random() < 0.6
        reference = row.top_up.payment_id.removeprefix("pi_")
        at = moment(self.at)
        self.report(sandbox.decide_dispute(reference=reference, is_won=is_won, at=at))
        purse = self.purse_of(row.top_up)
        purse.undecided -= 1
        if is_won:
            purse.disputes -= 1
            purse.available += in_cents(row.net)
            if not purse.disputes and purse.available >= 0:
                purse.is_frozen = False
        return is_won

    def let_go(self):
        frozen = [c for c in self.customers if c[1].is_frozen]
        if not frozen:
            return None
        wallet, purse = self.random.choice(frozen)
        writes_off = self.random.random() < 0.5
        with self.refused_alike(
            lambda: self.books.let_go(purse, writes_off=writes_off)
        ):
            self.attempt(
                freezes.let_go,
                wallet_id=wallet.pk,
                actor_id=self.stage.staff.pk,
                reason="They paid by bank transfer.",
                writes_off=writes_off,
                at=moment(self.at),
            )
        return f"{wallet.pk}{' writing off' if writes_off else ''}"

    def pay_suppliers(self):
        week = payouts.week_of(moment(self.at))
        fate = self.wake(lambda: payouts.run_payouts(at=moment(self.at)))
        for account, party in self.books.parties.items():
            is_done = self.weeks_paid.get(account) == week
            if not is_done and party.pay_out(self.at, 7 * DAY):
                self.weeks_paid[account] = week
        return f"{week} {fate}"

    def return_payout(self):
        rows = Payout.objects.exclude(status="RETURNED").select_related("account")
        if not rows:
            return None
        row = self.random.choice(rows.order_by("pk"))
        self.attempt(
            payouts.return_payout,
            payout_id=row.pk,
            reason="The account is closed.",
            at=moment(self.at),
        )
        account = row.account.party, row.account.currency
        self.books.parties[account].paid_out -= in_cents(row.amount)
        if self.weeks_paid.get(account) == row.week_date:
            del self.weeks_paid[account]
        return row.pk

    def paid_top_up(self, **conditions):
        wallets = [wallet.pk for wallet, _ in self.buyers]
        rows = TopUp.objects.filter(status="PAID", wallet__in=wallets).order_by("pk")
        if "refunded" in conditions:
            rows = rows.filter(refunded_net=0, disputes=None).exclude(charge_id="")
        if not rows:
            return None, None
        top_up = self.random.choice(rows.select_related("wallet"))
        return top_up, self.purse_of(top_up)

    def purse_of(self, top_up):
        return next(
            purse for wallet, purse in self.customers if wallet.pk == top_up.wallet_id
        )

    def report(self, payment):
        self.send(payment.deliveries.latest("pk"))
