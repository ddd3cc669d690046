"""
What holds for the project as a whole, whatever is added to it.
"""

import os
import subprocess
import sys
from pathlib import Path

from django.core.management import call_command

CHECKOUT = Path(__file__).parent.parent


def test_no_migration_is_missing(db):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_the_production_settings_pass_the_deployment_check():
    production = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": os.environ["DATABASE_URL"],
        "REDIS_URL": os.environ["REDIS_URL"],
        "SECRET_KEY": "k7#pQ2!vR9@tW4^yU6&iO1*eA3(sD5)fG8-hJ0_kL+zXcVbNmM",
        "SITE_URL": "https://corehour.example",
        "STRIPE_SECRET_KEY": "sk_live_example",
        "STRIPE_WEBHOOK_SECRETS": "whsec_example_that_is_long_enough",
        "SELLER_NAME": "Example Ltd",
        "SELLER_ADDRESS": "1 Example Street",
        "SELLER_COUNTRY": "DE",
        "SELLER_VAT_ID": "DE123456789",
    }
    check = [sys.executable, "manage.py", "check", "--deploy"]

    done = subprocess.run(
        [*check, "--fail-level", "WARNING"],
        cwd=CHECKOUT,
        env=production,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
