from workspaces.models.drafts import Draft
from workspaces.models.events import Code, WorkspaceEvent
from workspaces.models.guards import Discrepancy, Reminder
from workspaces.models.keys import SshKey
from workspaces.models.quote import Quote
from workspaces.models.specification import KeptAtEnd, Specification
from workspaces.models.workspace import Workspace
from workspaces.states import Metered, State

__all__ = [
    "Code",
    "Discrepancy",
    "Draft",
    "KeptAtEnd",
    "Metered",
    "Quote",
    "Reminder",
    "Specification",
    "SshKey",
    "State",
    "Workspace",
    "WorkspaceEvent",
]
