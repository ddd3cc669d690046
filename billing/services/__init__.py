"""
The verbs that move money, for everybody else: keyword-only, told the time as `at`.

Each is one transaction and takes part in the caller's if there is one. Those that
take a `key` do nothing new when the key comes again. `retry_conflicts` belongs
around the caller's outermost transaction.
"""

from billing.checks import Fault, check_books
from billing.ledger import Busy, KeyReused, retry_conflicts
from billing.services.disputes import references_to_stop
from billing.services.ends import (
    EndWarningInfo,
    Extension,
    extend_automatically,
    extend_running,
    mark_warning_sent,
    set_auto_extend,
    unsent_warnings,
    warn_of_ends,
)
from billing.services.holds import (
    HoldEnded,
    HoldInfo,
    HoldInUse,
    HoldTooSmall,
    ReferenceTaken,
    capture_hold,
    expire_holds,
    extend_hold,
    hold_of,
    place_hold,
    release_hold,
)
from billing.services.meters import (
    ChargeInfo,
    MeterEnded,
    MeterInfo,
    RunningMeter,
    charges_of,
    extend_meter,
    meter_for_update,
    meter_of,
    meters_of,
    running_meters,
    shorten_meter,
    start_meter,
    stop_meter,
)
from billing.services.parties import (
    PartyLine,
    PartyStanding,
    PartyStatement,
    bank_accounts_of,
    payouts_of,
    set_bank_account,
    standings_of,
    statement_of_party,
)
from billing.services.payments import record_payment
from billing.services.payouts import mark_payout_paid, run_payouts
from billing.services.rates import (
    Conversion,
    NoExchangeRate,
    convert,
    load_shipped_rates,
)
from billing.services.refunds import RefundRefused, refund_payment
from billing.services.top_ups import TopUpRefused, confirm_top_up, start_top_up
from billing.services.wallets import (
    InsufficientFunds,
    NoSuchWallet,
    WalletBalance,
    WalletFrozen,
    open_wallet,
    wallets_of,
)
from billing.ticks import BillingRun, bill_due

__all__ = [
    "BillingRun",
    "Busy",
    "ChargeInfo",
    "Conversion",
    "EndWarningInfo",
    "Extension",
    "Fault",
    "HoldEnded",
    "HoldInUse",
    "HoldInfo",
    "HoldTooSmall",
    "InsufficientFunds",
    "KeyReused",
    "MeterEnded",
    "MeterInfo",
    "NoExchangeRate",
    "NoSuchWallet",
    "PartyLine",
    "PartyStanding",
    "PartyStatement",
    "ReferenceTaken",
    "RefundRefused",
    "RunningMeter",
    "TopUpRefused",
    "WalletBalance",
    "WalletFrozen",
    "bank_accounts_of",
    "bill_due",
    "capture_hold",
    "charges_of",
    "check_books",
    "confirm_top_up",
    "convert",
    "expire_holds",
    "extend_automatically",
    "extend_hold",
    "extend_meter",
    "extend_running",
    "hold_of",
    "load_shipped_rates",
    "mark_payout_paid",
    "mark_warning_sent",
    "meter_for_update",
    "meter_of",
    "meters_of",
    "open_wallet",
    "payouts_of",
    "place_hold",
    "record_payment",
    "references_to_stop",
    "refund_payment",
    "release_hold",
    "retry_conflicts",
    "run_payouts",
    "running_meters",
    "set_auto_extend",
    "set_bank_account",
    "shorten_meter",
    "standings_of",
    "start_meter",
    "start_top_up",
    "statement_of_party",
    "stop_meter",
    "unsent_warnings",
    "wallets_of",
    "warn_of_ends",
]
