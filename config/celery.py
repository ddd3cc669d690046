"""
The Celery application and its beat schedule, in UTC.

The database is the queue of record: every entry below only wakes work up, so a
lost, doubled or late wake-up changes nothing.
"""

import os

from celery import Celery
from celery.schedules import crontab

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("corehour")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    "bill due": {"task": "billing.tasks.bill_due", "schedule": 10.0},
    "reconcile payments": {
        "task": "billing.tasks.reconcile_payments",
        "schedule": crontab(hour="2", minute="50"),
    },
    "check books": {
        "task": "billing.tasks.check_books",
        "schedule": crontab(hour="3", minute="20"),
    },
    "load exchange rates": {
        "task": "billing.tasks.load_rates",
        "schedule": crontab(minute="20"),
    },
    "run payouts": {
        "task": "billing.tasks.run_payouts",
        "schedule": crontab(hour="5", minute="0"),
    },
    "process provider events": {
        "task": "billing.tasks.process_events",
        "schedule": 10.0,
    },
    "run the sandbox": {"task": "billing.tasks.run_sandbox", "schedule": 3.0},
    "top up automatically": {
        "task": "billing.tasks.top_up_automatically",
        "schedule": 30.0,
    },
    "issue invoices": {"task": "billing.tasks.issue_invoices", "schedule": 15.0},
    "check VAT numbers": {"task": "billing.tasks.check_vat_ids", "schedule": 300.0},
    "look up payments": {"task": "billing.tasks.look_up_payments", "schedule": 60.0},
    "send mail": {"task": "marketplace.tasks.send_mail", "schedule": 5.0},
    "send stock alerts": {
        "task": "marketplace.tasks.send_stock_alerts",
        "schedule": 60.0,
    },
    "open the market": {
        "task": "marketplace.tasks.open_when_due",
        "schedule": 60.0,
    },
    "tell how the opening went": {
        "task": "marketplace.tasks.send_opening_mails",
        "schedule": 60.0,
    },
    "replay matches": {
        "task": "marketplace.tasks.replay_matches",
        "schedule": crontab(hour="3", minute="40"),
    },
    "tell suppliers of starts": {
        "task": "marketplace.tasks.send_start_notices",
        "schedule": 20.0,
    },
    "match market": {"task": "marketplace.tasks.match_market", "schedule": 10.0},
    "provision": {"task": "workspaces.tasks.provision_due", "schedule": 5.0},
    "end workspaces": {"task": "workspaces.tasks.end_due", "schedule": 10.0},
    "send reminders": {"task": "workspaces.tasks.send_reminders", "schedule": 60.0},
    "reconcile workspaces": {
        "task": "workspaces.tasks.reconcile",
        "schedule": crontab(minute="40"),
    },
}
