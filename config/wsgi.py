import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# A page that waits longer for the database would only make the others wait too.
os.environ.setdefault("STATEMENT_TIMEOUT_SECONDS", "10")

application = get_wsgi_application()

# What it imports reads the settings, which must not be before these are complete.
from config.warm_up import warm_up  # noqa: E402

warm_up()
