"""
Staff write guides: a version a save, a preview in the real page, publishing, undoing.
"""

import re
from html import unescape

import pytest
import time_machine
from django.db import IntegrityError, transaction

from catalog.guide_versions import publish_version
from catalog.models import Workload, WorkloadBlock, WorkloadText
from catalog.services import load_catalog
from tests.catalog.pages import text_of

GUIDE = "/workloads/fine-tuning/"
STAFF = "/staff/guides/fine-tuning/en/"


@pytest.fixture(autouse=True)
def _at_noon(catalog, now):
    with time_machine.travel(now, tick=False):
        yield


def fields_of(page):
    """
    Return what a browser would send of the page's form.
    """
    source = page.content.decode()
    form = source[source.index('<form class="form"') : source.rindex("</form>")]
    sent = {}
    for tag in re.findall(r"<input [^>]+>", form):
        name, value = (
            re.search(r'name="([^"]+)"', tag),
            re.search(r'value="([^"]*)"', tag),
        )
        if name and "checkbox" not in tag:
            sent[name[1]] = unescape(value[1]) if value else ""
    for name, value in re.findall(
        r'<textarea name="([^"]+)"[^>]*>\s?(.*?)</textarea>', form, re.DOTALL
    ):
        # Browsers send lines with a carriage return.
        sent[name] = unescape(value).replace("\n", "\r\n")
    for name, options in re.findall(
        r'<select name="([^"]+)"[^>]*>(.*?)</select>', form, re.DOTALL
    ):
        chosen = re.search(r'value="([^"]*)" selected', options)
        sent[name] = chosen[1] if chosen else ""
    sent.pop("csrfmiddlewaretoken")
    return sent


def save(client, *, number=1, **changes):
    path = f"{STAFF}{number}/edit/"
    sent = {**fields_of(client.get(path)), **changes}
    return client.post(path, sent)


def version(number):
    return WorkloadText.objects.get(
        workload__slug="fine-tuning", language="en", number=number
    )


def said(text):
    blocks = text.blocks.order_by("kind", "position")
    names = ["kind", "position", "title", "body", "note", "url", "gpu_id"]
    fields = (text.title, text.summary, text.lead, text.answer, text.reviewed_date)
    return fields, list(blocks.values_list(*names))


def test_lists_every_guide_in_every_language(staff_client):
    text = text_of(staff_client.get("/staff/guides/"))

    assert text.count("Version 1") == 2 * 6 * 3
    assert "GPU untuk fine-tuning model terbuka" in text


def test_saving_what_is_there_changes_no_word(staff_client):
    answer = save(staff_client)

    assert answer.status_code == 302
    assert answer.url == f"{STAFF}2/"
    first, second = version(1), version(2)
    (title, summary, lead, words, day), blocks = said(first)
    # A field loses the line breaks around its text, as every form field does.
    assert said(second) == (
        (title, summary, lead, words.strip(), day),
        [(*block[:3], block[3].strip(), *block[4:]) for block in blocks],
    )


def test_readers_see_a_version_only_when_it_is_published(staff_client, client, staff):
    save(staff_client, title="Quite another title", note="A shorter title")

    assert "Quite another title" not in text_of(client.get(GUIDE))
    preview = staff_client.get(f"{STAFF}2/")
    assert "Quite another title" in text_of(preview)
    assert "Readers do not see this version." in text_of(preview)
    assert "$2.72" in text_of(preview), "a preview is the real page"
    saved = version(2)
    assert (saved.created_by, saved.note) == (staff, "A shorter title")

    answer = staff_client.post(f"{STAFF}2/publish/")

    assert answer.url == STAFF
    assert "Quite another title" in text_of(client.get(GUIDE))
    assert version(2).published_by == staff
    assert not version(1).is_published


def test_publishing_an_older_version_undoes_a_change(staff_client, client):
    save(staff_client, title="A mistake")
    staff_client.post(f"{STAFF}2/publish/")

    staff_client.post(f"{STAFF}1/publish/")

    assert "GPUs for fine-tuning open models" in text_of(client.get(GUIDE))
    assert version(2).title == "A mistake", "no version is lost"
    assert WorkloadText.objects.filter(
        workload__slug="fine-tuning", language="en", is_published=True
    ).get() == version(1)
    versions = text_of(staff_client.get(STAFF))
    assert "Publish version 2" in versions
    assert "Publish version 1" not in versions


def test_publishing_twice_is_publishing_once(staff_client):
    save(staff_client)

    for _ in range(2):
        staff_client.post(f"{STAFF}2/publish/")

    assert version(2).is_published


def test_pieces_are_added_moved_and_removed(staff_client):
    count = version(1).blocks.filter(kind="QUESTION").count()

    save(
        staff_client,
        **{
            f"question-{count}-title": "Is this new?",
            f"question-{count}-body": "It is.\r\n\r\n- quite",
            f"question-{count}-ORDER": "0",
            "question-0-DELETE": "on",
            "best_for": "One\r\n\r\n  Two  \r\n",
        },
    )

    questions = version(2).blocks.filter(kind="QUESTION").order_by("position")
    assert questions[0].title == "Is this new?"
    assert questions[0].body == "It is.\n\n- quite"
    assert questions.count() == count
    before = version(1).blocks.filter(kind="QUESTION").order_by("position")
    assert not questions.filter(title=before[0].title).exists()
    best = version(2).blocks.filter(kind="BEST_FOR").order_by("position")
    assert [block.body for block in best] == ["One", "Two"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"title": ""}, "This field is required."),
        ({"summary": "long " * 50}, "at most 200 characters"),
        ({"reviewed_date": "yesterday"}, "Enter a valid date."),
        ({"source-0-url": "javascript:alert(1)"}, "Enter a valid URL."),
        ({"source-0-url": "data:text/html,x"}, "Enter a valid URL."),
        ({"source-0-url": "http://example.com/"}, "Enter a valid URL."),
        ({"step-2-title": "", "step-2-body": ""}, "This field is required."),
        ({"step-TOTAL_FORMS": "2"}, "Please submit at least 3 forms."),
        ({"shortlist-0-gpu": "99999"}, "Select a valid choice."),
        ({"topic-TOTAL_FORMS": "0"}, "Please submit at least 1 form."),
        ({"topic-TOTAL_FORMS": "many"}, "Please submit at least 1 form."),
    ],
)
def test_refuses_what_is_no_guide_and_keeps_what_was_typed(
    staff_client, changes, error
):
    answer = save(staff_client, lead="What I typed", **changes)

    assert answer.status_code == 422
    assert error in text_of(answer)
    assert "What I typed" in text_of(answer)
    assert WorkloadText.objects.filter(workload__slug="fine-tuning").count() == 3


ATTACKS = [
    "{{ 7*7 }}",
    "{% include 'account/login.html' %}",
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ settings.SECRET_KEY }}",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_is_written_stays_text(staff_client, client, attack):
    save(
        staff_client,
        **dict.fromkeys(
            [
                "title",
                "summary",
                "lead",
                "answer",
                "reviewed_by",
                "best_for",
                "topic-0-title",
                "topic-0-body",
                "decision-0-note",
                "step-0-body",
                "shortlist-0-body",
                "question-0-title",
                "question-0-body",
                "source-0-title",
                "source-0-note",
            ],
            attack,
        ),
    )
    staff_client.post(f"{STAFF}2/publish/")

    for page in [
        client.get(GUIDE),
        client.get("/workloads/"),
        staff_client.get(f"{STAFF}2/"),
        staff_client.get(f"{STAFF}2/edit/"),
        staff_client.get("/staff/guides/"),
    ]:
        source = page.content.decode()
        assert "<script>alert" not in source
        assert "<img src=x" not in source
        assert attack in unescape(text_of(page)) or attack in unescape(source)
        assert ">49<" not in source
        assert "demo-only" not in source


@pytest.mark.parametrize("url", ["javascript:alert(1)", "http://example.com/"])
def test_the_database_takes_no_other_links(url):
    block = WorkloadBlock.objects.filter(kind="SOURCE").first()
    block.url = url

    with pytest.raises(IntegrityError), transaction.atomic():
        block.save()


def test_the_database_takes_one_published_version(now):
    text = version(1)
    text.pk, text.number = None, 2

    with pytest.raises(IntegrityError), transaction.atomic():
        text.save()


@pytest.mark.parametrize("path", ["", "1/", "1/edit/"])
def test_is_not_there_for_others(renter_client, client, path):
    assert renter_client.get(f"{STAFF}{path}").status_code == 404
    assert client.get(f"{STAFF}{path}").status_code == 302


def test_others_publish_nothing(renter_client, client, staff_client):
    save(staff_client)

    assert renter_client.post(f"{STAFF}2/publish/").status_code == 404
    assert renter_client.post(f"{STAFF}1/edit/", {"title": "x"}).status_code == 404
    assert client.post(f"{STAFF}2/publish/").status_code == 302
    assert not version(2).is_published
    assert WorkloadText.objects.filter(workload__slug="fine-tuning").count() == 4


@pytest.mark.parametrize(
    "path",
    [
        "/staff/guides/knitting/en/",
        "/staff/guides/fine-tuning/fr/",
        "/staff/guides/fine-tuning/en/9/",
        "/staff/guides/fine-tuning/en/9/edit/",
    ],
)
def test_is_not_found(staff_client, path):
    assert staff_client.get(path).status_code == 404


def test_previews_in_the_language_of_the_text(staff_client):
    source = staff_client.get("/staff/guides/fine-tuning/es/1/").content.decode()

    assert '<html lang="es">' in source
    assert "2,72\u00a0US$" in source


class TestDataFiles:
    """
    A file that changed is a new version; what staff wrote or chose stays.
    """

    @staticmethod
    def forget_the_file():
        WorkloadText.objects.filter(
            workload__slug="fine-tuning", language="en", digest__gt=""
        ).update(digest="an older file")

    def test_replaces_a_version_of_an_older_file(self, now):
        self.forget_the_file()

        assert load_catalog(at=now)["guide texts"] == 1
        assert version(2).is_published
        assert load_catalog(at=now)["guide texts"] == 0

    def test_waits_behind_what_staff_wrote(self, staff_client, client, now):
        save(staff_client, title="Written by staff")
        staff_client.post(f"{STAFF}2/publish/")
        self.forget_the_file()

        assert load_catalog(at=now)["guide texts"] == 1
        assert not version(3).is_published
        assert "Written by staff" in text_of(client.get(GUIDE))

    def test_waits_behind_what_staff_chose(self, staff, now):
        publish_version(text_id=version(1).pk, actor=staff, at=now)
        self.forget_the_file()

        load_catalog(at=now)

        assert version(1).is_published

    def test_does_not_bring_back_a_guide_that_was_taken_down(self, client, now):
        Workload.objects.filter(slug="fine-tuning").update(is_published=False)

        load_catalog(at=now)

        assert client.get(GUIDE).status_code == 404
