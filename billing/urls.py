from django.urls import path

from billing.views import sandbox, staff, top_ups, wallet

app_name = "billing"
urlpatterns = [
    path("wallet/", wallet.wallet, name="wallet"),
    path("wallet/top-up/", top_ups.top_up, name="top_up"),
    path(
        "wallet/top-ups/<uuid:top_up>/confirm/", top_ups.confirm, name="top_up_confirm"
    ),
    path("wallet/top-ups/<uuid:top_up>/", top_ups.status, name="top_up_status"),
    path("wallet/<slug:currency>/statement/", wallet.statement, name="statement"),
    path(
        "wallet/<slug:currency>/statement.csv",
        wallet.statement_csv,
        name="statement_csv",
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
    path("staff/books/", staff.books, name="books"),
]
