"""
The Celery application and its beat schedule, in UTC.

The database is the queue of record: every entry below only wakes work up, so a
lost, doubled or late wake-up changes nothing.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("corehour")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {}
