from marketplace.models.launch import Launch, LaunchEvent
from marketplace.models.matches import Match
from marketplace.models.people import User

__all__ = ["Launch", "LaunchEvent", "Match", "User"]
