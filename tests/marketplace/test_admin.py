import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.core.exceptions import ValidationError
from django.test import Client

from marketplace.models import Launch, User
from tests.conftest import PASSWORD
from tests.marketplace.supplier_fixtures import name_bank

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


def test_staff_who_are_not_superusers_cannot_shut_one_out(make_person, client, staff):
    clerk = make_person("clerk@example.com", is_staff=True)
    clerk.user_permissions.set(
        Permission.objects.filter(codename__in=["view_user", "change_user"])
    )
    client.force_login(clerk)

    answer = client.post(f"/admin/marketplace/user/{staff.pk}/change/", {"name": "x"})

    assert answer.status_code == 403
    staff.refresh_from_db()
    assert staff.is_active


def test_new_rights_are_an_alarm_and_a_line_of_the_history(
    staff_client, staff, renter, caplog
):
    person = {"name": "", "language": "en", "currency": "USD", "time_zone": "UTC"}

    staff_client.post(
        f"/admin/marketplace/user/{renter.pk}/change/",
        person | {"is_active": "on", "is_staff": "on"},
    )

    renter.refresh_from_db()
    assert renter.is_staff
    (alarm,) = [line for line in caplog.records if line.levelname == "CRITICAL"]
    assert (
        alarm.getMessage() == f"The rights of user {renter.pk} were changed: is_staff"
    )
    entry = LogEntry.objects.get()
    assert (entry.user_id, entry.object_id) == (staff.pk, str(renter.pk))


def test_staff_without_a_permission_see_no_table(make_person, client):
    clerk = make_person("clerk@example.com", is_staff=True)
    client.force_login(clerk)

    answers = {
        model._meta.label: client.get(
            f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        ).status_code
        for model in admin.site._registry
    }

    assert set(answers.values()) == {403}


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


def test_staff_look_a_company_up_and_see_no_account_whole(
    staff_client, staff, owner, company
):
    name_bank(company, owner)
    table = "/admin/marketplace/company/"

    found = staff_client.get(table, {"q": owner.email})
    one = staff_client.get(f"{table}{company.pk}/change/").content.decode()
    banks = staff_client.get("/admin/billing/bankaccount/").content.decode()

    assert company.legal_name in found.content.decode()
    assert "USD …6199" in one
    assert "Bank account changed" in one
    assert "…6199" in banks
    assert "DE755121" not in one + banks


@pytest.mark.parametrize("table", ["marketplace/company", "catalog/listing"])
def test_staff_change_no_supplier_by_hand(staff_client, listed, table):
    row = {"marketplace/company": listed.supplier_id, "catalog/listing": listed.pk}
    one = f"/admin/{table}/{row[table]}"

    assert staff_client.get(f"/admin/{table}/").status_code == 200
    assert staff_client.get(f"{one}/change/").status_code == 200
    assert staff_client.post(f"{one}/change/", {"state": "REFUSED"}).status_code == 403
    assert staff_client.post(f"{one}/delete/", {"post": "yes"}).status_code == 403
    assert staff_client.get(f"/admin/{table}/add/").status_code == 403
    assert listed.supplier.company.state == "VERIFIED"


def log_out(client, *people):
    chosen = {"action": "log_out_everywhere", "_selected_action": list(people)}
    return client.post("/admin/marketplace/user/", chosen)


def test_staff_end_all_sessions_of_a_person(staff_client, renter):
    client = Client()
    client.post("/account/login/", {"login": renter.email, "password": PASSWORD})
    assert client.get("/wallet/").status_code == 200

    log_out(staff_client, renter.pk)

    assert client.get("/wallet/").status_code == 302
    assert LogEntry.objects.get().change_message == "Ended 1 sessions"


def test_staff_who_are_not_superusers_log_no_superuser_out(make_person, client, staff):
    small = make_person("helper@example.com", is_staff=True)
    small.user_permissions.set(Permission.objects.filter(content_type__model="user"))
    boss = Client()
    boss.post("/account/login/", {"login": staff.email, "password": PASSWORD})
    client.force_login(small)

    log_out(client, staff.pk)

    assert boss.get("/wallet/").status_code == 200


def test_who_runs_the_site_begins_with_a_password_that_is_hard_to_guess(client):
    with pytest.raises(ValidationError):
        User.objects.create_superuser("boss@example.com", "admin")
    assert not User.objects.exists()

    boss = User.objects.create_superuser("boss@example.com", PASSWORD)
    client.post("/account/login/", {"login": boss.email, "password": PASSWORD})
    assert "_auth_user_id" not in client.session, "the address is confirmed first"
    client.force_login(boss)
    assert client.get("/staff/").status_code == 200
