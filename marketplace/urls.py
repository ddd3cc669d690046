from django.urls import include, path

from marketplace.views import (
    dashboard,
    demo,
    home,
    look,
    market,
    matches,
    price_proposals,
    prices,
    profile,
    staff,
)

app_name = "marketplace"
urlpatterns = [
    path("", home.home, name="home"),
    path("dashboard/", dashboard.dashboard, name="dashboard"),
    path("market/", market.market, name="market"),
    path("market/<slug:slug>/", market.market_gpu, name="market_gpu"),
    path("how-matching-works/", market.how_matching_works, name="how_matching_works"),
    path("profile/", profile.profile, name="profile"),
    path("mailbox/", demo.mailbox, name="mailbox"),
    path("staff/", staff.index, name="staff"),
    path("staff/launch/", staff.launch, name="staff_launch"),
    path("staff/matches/", matches.matches, name="staff_matches"),
    path("staff/launch/open/", staff.open_market, name="staff_open"),
    path("staff/launch/pause/", staff.pause_market, name="staff_pause"),
    path("staff/prices/", prices.prices, name="staff_prices"),
    path("staff/prices/check/", prices.check_prices, name="staff_prices_check"),
    path("staff/prices/save/", prices.save_prices, name="staff_prices_save"),
    path("staff/prices/prices.csv", prices.prices_csv, name="staff_prices_csv"),
    path("staff/prices/files/", prices.upload_prices, name="staff_price_files"),
    path(
        "staff/prices/files/<uuid:file_id>/",
        prices.price_file,
        name="staff_price_file",
    ),
    path(
        "staff/prices/approvals/",
        price_proposals.price_proposals,
        name="staff_price_proposals",
    ),
    path("staff/prices/changes/", prices.price_changes, name="staff_price_changes"),
    path("staff/prices/changes/undo/", prices.undo_save, name="staff_undo_save"),
    path(
        "staff/prices/changes/<int:version_id>/undo/",
        prices.undo_price,
        name="staff_undo_price",
    ),
    path("staff/clock/", staff.move_clock, name="staff_clock"),
    path("staff/look/", look.look, name="look"),
    path("", include("marketplace.supplier_urls")),
]
