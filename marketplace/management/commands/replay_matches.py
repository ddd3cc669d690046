from typing import Any

from django.core.management.base import BaseCommand, CommandError

import clock
from marketplace import services


class Command(BaseCommand):
    help = "Derive every match from the log again; exits with 1 if one differs."

    def handle(self, *args: Any, **options: Any) -> None:
        replay = services.replay_matches(at=clock.now())
        for difference in replay.differences:
            self.stderr.write(difference)
        if replay.differences:
            raise CommandError("Not every match is the one that the rule makes.")
        self.stdout.write(f"{replay.matches} matches in {replay.runs} runs are right.")
