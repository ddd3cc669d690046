from django.db import migrations, models


def mark(apps, schema_editor):
    # Two dies of 64 GB on one card: a process sees one of them.
    gpus = apps.get_model("catalog", "GpuModel").objects
    gpus.filter(slug="mi250x").update(process_memory_gb=64)


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0003_gpu_has_inline_ecc"),
    ]

    operations = [
        migrations.AddField(
            model_name="gpumodel",
            name="process_memory_gb",
            field=models.DecimalField(
                blank=True,
                decimal_places=1,
                help_text="GB that one process sees, if that is less: a card of two dies.",
                max_digits=6,
                null=True,
                verbose_name="memory of one process",
            ),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
