import pytest
from django.contrib.auth.models import Permission

from marketplace.models import Launch, User

pytestmark = pytest.mark.django_db


def test_enters_through_the_sites_own_log_in(client):
    answer = client.get("/admin/", follow=True)

    assert answer.redirect_chain[-1] == ("/account/login/?next=%2Fadmin%2F", 302)


def test_the_admins_own_log_in_form_takes_no_password(client, staff):
    answer = client.post(
        "/admin/login/", {"username": staff.email, "password": "whatever"}
    )

    assert answer.url.startswith("/account/login/")
    assert "_auth_user_id" not in client.session


def test_refuses_a_renter(renter_client):
    assert renter_client.get("/admin/login/").status_code == 403
    assert renter_client.get("/admin/").status_code == 302


def test_a_demoted_member_of_staff_is_out_at_once(staff_client, staff):
    assert staff_client.get("/admin/marketplace/user/").status_code == 200
    User.objects.filter(pk=staff.pk).update(is_staff=False)

    assert staff_client.get("/admin/marketplace/user/").status_code == 302
    assert staff_client.get("/staff/").status_code == 404


def test_shows_no_password_and_has_no_form_for_one(staff_client, renter):
    page = staff_client.get(f"/admin/marketplace/user/{renter.pk}/change/")

    assert page.status_code == 200
    assert renter.password not in page.content.decode()
    form = page.context["adminform"].form
    assert "password" not in form.fields
    password_form = f"/admin/marketplace/user/{renter.pk}/password/"
    assert staff_client.get(password_form).status_code in {302, 404}


def test_staff_who_are_not_superusers_cannot_raise_anybody(make_person, client, renter):
    clerk = make_person("clerk@example.com", is_staff=True)
    clerk.user_permissions.set(
        Permission.objects.filter(codename__in=["view_user", "change_user"])
    )
    client.force_login(clerk)
    change = f"/admin/marketplace/user/{renter.pk}/change/"

    answer = client.post(
        change,
        {
            "name": "Changed",
            "language": "en",
            "currency": "USD",
            "time_zone": "UTC",
            "is_active": "on",
            "is_staff": "on",
            "is_superuser": "on",
        },
    )

    assert answer.status_code == 302
    renter.refresh_from_db()
    assert renter.name == "Changed"
    assert not renter.is_staff
    assert not renter.is_superuser


@pytest.mark.parametrize("table", ["launch", "launchevent", "match"])
def test_what_services_write_is_only_read_here(staff_client, table):
    Launch.objects.create()

    assert staff_client.get(f"/admin/marketplace/{table}/").status_code == 200
    assert staff_client.get(f"/admin/marketplace/{table}/add/").status_code == 403
    if table == "launch":
        change = "/admin/marketplace/launch/1/change/"
        assert (
            staff_client.post(change, {"opened_at_0": "2026-12-01"}).status_code == 403
        )
    assert Launch.objects.get().opened_at is None
