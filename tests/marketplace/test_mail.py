import time

import pytest
from django.core import mail
from django.core.cache import cache
from django.core.mail import EmailMessage
from django.db import connections
from post_office.models import STATUS, Email

from config import celery_app
from marketplace import outbox

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _real_sending(settings):
    cache.clear()
    settings.POST_OFFICE = {
        **settings.POST_OFFICE,
        "BACKENDS": {"default": "django.core.mail.backends.locmem.EmailBackend"},
    }


def ask_for_a_new_password(client, person, prefix=""):
    client.post(f"{prefix}/account/password/reset/", {"email": person.email})
    return Email.objects.latest("pk")


def test_a_mail_is_a_row_until_it_is_sent(client, renter):
    row = ask_for_a_new_password(client, renter)
    assert row.status == STATUS.queued
    assert mail.outbox == []

    assert outbox.send_waiting() == 1

    row.refresh_from_db()
    assert row.status == STATUS.sent
    assert [message.to for message in mail.outbox] == [[renter.email]]
    assert outbox.send_waiting() == 0
    assert len(mail.outbox) == 1


def test_a_mail_has_the_same_words_as_text_and_as_html(client, renter):
    ask_for_a_new_password(client, renter)
    outbox.send_waiting()

    message = mail.outbox[0]
    html, kind = message.alternatives[0]
    assert kind == "text/html"
    assert message.subject == "Choose a new password"
    for paragraph in message.body.split("\n\n"):
        assert paragraph.splitlines()[0] in html


def test_writes_in_the_language_of_the_reader(client, make_person):
    spaniard = make_person("es@example.com", language="es")

    row = ask_for_a_new_password(client, spaniard)

    assert 'lang="es"' in row.html_message


def test_tells_of_a_changed_password(renter_client, renter):
    answer = renter_client.post(
        "/account/password/change/",
        {
            "oldpassword": "a long and private sentence",
            "password1": "another long and private one",
            "password2": "another long and private one",
        },
    )

    assert answer.status_code == 302
    row = Email.objects.latest("pk")
    assert row.to == [renter.email]
    assert "127.0.0.1" in row.message
    assert "Reset your password now" in row.message


@pytest.mark.django_db(transaction=True)
def test_one_process_sends_at_a_time(client, renter):
    ask_for_a_new_password(client, renter)
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [outbox.SENDING])
        while_other_sends = outbox.send_waiting()
        cursor.execute("SELECT pg_advisory_unlock(%s)", [outbox.SENDING])
    other.close()

    assert while_other_sends == 0
    assert outbox.send_waiting() == 1


def test_a_mail_server_that_is_down_loses_nothing(client, renter, settings):
    settings.POST_OFFICE = {
        **settings.POST_OFFICE,
        "BACKENDS": {"default": "django.core.mail.backends.smtp.EmailBackend"},
    }
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    row = ask_for_a_new_password(client, renter)

    assert outbox.send_waiting() == 0

    row.refresh_from_db()
    assert row.status == STATUS.requeued


@pytest.fixture
def _dead_broker(monkeypatch):
    monkeypatch.setattr(celery_app.conf, "broker_url", "redis://127.0.0.1:9/0")
    celery_app._after_fork()  # forgets the connections to the living one
    yield
    monkeypatch.undo()
    celery_app._after_fork()


@pytest.mark.usefixtures("_dead_broker")
def test_a_broker_that_is_down_neither_breaks_nor_delays_the_page(
    client, renter, django_capture_on_commit_callbacks
):
    began = time.monotonic()
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post("/account/password/reset/", {"email": renter.email})

    assert time.monotonic() - began < 1
    assert answer.status_code == 302
    assert Email.objects.count() == 1


def test_a_mail_runs_nothing_that_people_wrote():
    runs = '"><svg onload=1>'

    html = outbox.as_html(EmailMessage(subject=runs, body=f"Hello {runs}\n\nBye"))

    assert "<svg" not in html
    assert html.count("&lt;svg onload=1&gt;") >= 2
