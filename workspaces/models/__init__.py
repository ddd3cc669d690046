from workspaces.models.quote import Quote
from workspaces.models.specification import KeptAtEnd, Specification
from workspaces.models.workspace import Workspace, WorkspaceEvent
from workspaces.states import Metered, State

__all__ = [
    "KeptAtEnd",
    "Metered",
    "Quote",
    "Specification",
    "State",
    "Workspace",
    "WorkspaceEvent",
]
