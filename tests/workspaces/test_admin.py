import pytest
from django.urls import reverse

from workspaces.models import Workspace

NAMES = ["quote", "workspace"]


@pytest.mark.parametrize("name", NAMES)
def test_staff_look_a_request_up(staff_client, running, name):
    page = reverse(f"admin:workspaces_{name}_changelist")

    found = staff_client.get(page, {"q": running.user.email})
    one = staff_client.get(
        reverse(f"admin:workspaces_{name}_change", args=[running.pk])
    )

    assert running.user.email in found.content.decode()
    assert one.status_code == 200


def test_the_story_stands_on_the_page_of_a_workspace(staff_client, running):
    page = reverse("admin:workspaces_workspace_change", args=[running.pk])

    assert staff_client.get(page).content.decode().count("QUEUED") >= 1


@pytest.mark.parametrize("name", NAMES)
def test_staff_change_nothing_by_hand(staff_client, running, name):
    one = reverse(f"admin:workspaces_{name}_change", args=[running.pk])
    add = reverse(f"admin:workspaces_{name}_add")
    delete = reverse(f"admin:workspaces_{name}_delete", args=[running.pk])

    assert staff_client.post(one, {"state": "ENDED"}).status_code == 403
    assert staff_client.get(add).status_code == 403
    assert staff_client.post(delete, {"post": "yes"}).status_code == 403
    assert Workspace.objects.get().state == "RUNNING"


@pytest.mark.parametrize("name", NAMES)
def test_nobody_else_gets_in(renter_client, running, name):
    page = reverse(f"admin:workspaces_{name}_changelist")

    assert renter_client.get(page).status_code == 302
