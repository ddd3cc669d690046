from decimal import Decimal

from django.db import transaction
from hordak.models import Account, AccountType, Leg, Transaction
from moneyed import Money

SUPPLIER_PART, HOUSE_PART = Money(Decimal("0.90"), "USD"), Money(Decimal("0.10"), "USD")
SUPPLIERS = 20


class Postings:
    def __init__(self, held: int) -> None:
        self.held = [self._account(f"held {n}") for n in range(held)]
        self.suppliers = [self._account(f"supplier {n}") for n in range(SUPPLIERS)]
        self.house = self._account("house")

    def _account(self, name: str) -> Account:
        return Account.objects.create(
            name=name, type=AccountType.liability, currencies=["USD"]
        )

    def one_by_one(self, charges: int) -> None:
        for number in range(charges):
            held = self.held[number % len(self.held)]
            with transaction.atomic():
                held.transfer_to(self.suppliers[number % SUPPLIERS], SUPPLIER_PART)
                held.transfer_to(self.house, HOUSE_PART)

    def bulk(self, charges: int) -> None:
        with transaction.atomic():
            rows = Transaction.objects.bulk_create(
                [Transaction() for _ in range(charges)], batch_size=1000
            )
            Leg.objects.bulk_create(
                [leg for n, row in enumerate(rows) for leg in self._legs(n, row)],
                batch_size=1000,
            )

    def _legs(self, number: int, row: Transaction) -> list[Leg]:
        return [
            Leg(
                transaction=row,
                account=self.held[number % len(self.held)],
                debit=SUPPLIER_PART + HOUSE_PART,
            ),
            Leg(
                transaction=row,
                account=self.suppliers[number % SUPPLIERS],
                credit=SUPPLIER_PART,
            ),
            Leg(transaction=row, account=self.house, credit=HOUSE_PART),
        ]
