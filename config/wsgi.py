import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# A page that waits longer for the database would only make the others wait too.
os.environ.setdefault("STATEMENT_TIMEOUT_SECONDS", "10")

application = get_wsgi_application()
# Or the first visitor of each process waits while Django imports all views.
import_module(settings.ROOT_URLCONF)
# What is loaded stays: the collector, which would walk over all of it during requests,
# leaves it alone, and processes that are forked from this one share it.
gc.collect()
gc.freeze()
