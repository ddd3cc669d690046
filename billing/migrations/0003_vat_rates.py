import csv
from pathlib import Path

from django.db import migrations

RATES = Path(__file__).parent.parent / "data" / "vat_rates.csv"


def load(apps, schema_editor):
    """
    Fill the table for a new installation; `load_vat_rates` adds what later releases know.
    """
    rate = apps.get_model("billing", "VatRate")
    with RATES.open(newline="", encoding="utf-8") as rows:
        rate.objects.bulk_create(
            [rate(**row) for row in csv.DictReader(rows)], ignore_conflicts=True
        )


class Migration(migrations.Migration):

    dependencies = [("billing", "0002_payments")]

    operations = [migrations.RunPython(load, migrations.RunPython.noop)]
