"""
The settings of the tests: the demo's, minus what only costs time.
"""

import os

os.environ.update(DEMO="true", PAYMENT_GATEWAY="sandbox")
# The tests of one minute are many calls from one address.
os.environ["API_CALLS_PER_MINUTE"] = "1000000"

from config.settings import *  # noqa: F403

# The processes of a parallel run share one Valkey and one folder, but nothing in them.
_number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
CACHES["default"]["LOCATION"] = f"{REDIS_URL}?db={_number}"  # noqa: F405
CELERY_BROKER_URL = f"{CELERY_BROKER_URL}?virtual_host={_number}"  # noqa: F405
DEMO_CLOCK_FILE = f"{DEMO_CLOCK_FILE}-{_number}"  # noqa: F405
# A test is one transaction, and some wait in it for another program.
DATABASES["default"]["OPTIONS"]["options"] += (  # noqa: F405
    " -c idle_in_transaction_session_timeout=600s"
)
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"]["BACKEND"] = (  # noqa: F405
    "django.contrib.staticfiles.storage.StaticFilesStorage"
)
# Nothing is collected, so there is no folder to read the files from.
WHITENOISE_AUTOREFRESH = True
