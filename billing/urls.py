from django.urls import path

from billing.views import (
    auto,
    freezes,
    invoices,
    payouts,
    refunds,
    sandbox,
    staff,
    top_ups,
    wallet,
)

app_name = "billing"
urlpatterns = [
    path("wallet/", wallet.wallet, name="wallet"),
    path("wallet/top-up/", top_ups.top_up, name="top_up"),
    path(
        "wallet/top-ups/<uuid:top_up>/confirm/", top_ups.confirm, name="top_up_confirm"
    ),
    path("wallet/top-ups/<uuid:top_up>/", top_ups.status, name="top_up_status"),
    path("wallet/top-ups/<uuid:top_up>/refund/", refunds.refund, name="refund"),
    path(
        "wallet/top-ups/<uuid:top_up>/refund/confirm/",
        refunds.refund_confirm,
        name="refund_confirm",
    ),
    path("wallet/invoices/", invoices.invoices, name="invoices"),
    path("wallet/invoices/<slug:code>.pdf", invoices.invoice, name="invoice"),
    path("wallet/card/remove/", auto.remove_card, name="card_remove"),
    path("wallet/<slug:currency>/auto/", auto.auto_top_up, name="auto_top_up"),
    path("wallet/<slug:currency>/auto/off/", auto.switch_off, name="auto_top_up_off"),
    path("wallet/<slug:currency>/statement/", wallet.statement, name="statement"),
    path(
        "wallet/<slug:currency>/statement.csv",
        wallet.statement_csv,
        name="statement_csv",
    ),
    path(
        "wallet/<slug:currency>/statement.pdf",
        wallet.statement_pdf,
        name="statement_pdf",
    ),
    path("sandbox/<slug:reference>/", sandbox.page, name="sandbox_pay"),
    path("sandbox/<slug:reference>/pay/", sandbox.pay, name="sandbox_pay_now"),
    path("sandbox/<slug:reference>/decline/", sandbox.decline, name="sandbox_decline"),
    path(
        "sandbox/<slug:reference>/pay-later/",
        sandbox.pay_later,
        name="sandbox_pay_later",
    ),
    path(
        "sandbox/<slug:reference>/fail-later/",
        sandbox.fail_later,
        name="sandbox_fail_later",
    ),
    path("sandbox/<slug:reference>/dispute/", sandbox.dispute, name="sandbox_dispute"),
    path(
        "sandbox/<slug:reference>/dispute/won/",
        sandbox.win_dispute,
        name="sandbox_dispute_won",
    ),
    path(
        "sandbox/<slug:reference>/dispute/lost/",
        sandbox.lose_dispute,
        name="sandbox_dispute_lost",
    ),
    path("staff/books/", staff.books, name="books"),
    path("staff/books/movements/", staff.movements, name="movements"),
    path(
        "staff/books/movements/<int:movement_id>/",
        staff.explain,
        name="explain_movement",
    ),
    path("staff/disputes/", freezes.disputes, name="disputes"),
    path(
        "staff/disputes/<int:wallet_id>/unfreeze/",
        freezes.unfreeze,
        name="unfreeze",
    ),
    path("staff/payouts/", payouts.payouts, name="payouts"),
    path("staff/payouts/run/", payouts.run, name="payouts_run"),
    path(
        "staff/payouts/<slug:currency>/<slug:week>.csv",
        payouts.bank_file,
        name="payouts_csv",
    ),
    path("staff/payouts/<int:payout_id>/paid/", payouts.mark_paid, name="payout_paid"),
    path(
        "staff/payouts/<int:payout_id>/return/",
        payouts.send_back,
        name="payout_return",
    ),
]
