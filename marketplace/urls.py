from django.urls import path

from marketplace.views import dashboard, demo, home, look, market, profile, staff

app_name = "marketplace"
urlpatterns = [
    path("", home.home, name="home"),
    path("dashboard/", dashboard.dashboard, name="dashboard"),
    path("market/", market.market, name="market"),
    path("market/<slug:slug>/", market.market_gpu, name="market_gpu"),
    path("profile/", profile.profile, name="profile"),
    path("mailbox/", demo.mailbox, name="mailbox"),
    path("staff/", staff.index, name="staff"),
    path("staff/launch/", staff.launch, name="staff_launch"),
    path("staff/launch/open/", staff.open_market, name="staff_open"),
    path("staff/launch/pause/", staff.pause_market, name="staff_pause"),
    path("staff/clock/", staff.move_clock, name="staff_clock"),
    path("staff/look/", look.look, name="look"),
]
