from django.db import migrations, models

# The data-center cards with GDDR6, which are shipped with ECC on.
SHIPPED_WITH_ECC = ["a10", "a16", "a40", "l4", "l40", "l40s", "t4"]


def mark(apps, schema_editor):
    gpus = apps.get_model("catalog", "GpuModel").objects
    gpus.filter(slug__in=SHIPPED_WITH_ECC).update(has_inline_ecc=True)


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0002_append_only_prices"),
    ]

    operations = [
        migrations.AddField(
            model_name="gpumodel",
            name="has_inline_ecc",
            field=models.BooleanField(
                default=False,
                help_text="A sixteenth of the memory holds check bits, as it is shipped.",
                verbose_name="ECC in memory",
            ),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
