import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


def _actor(label):
    return models.ForeignKey(
        blank=True,
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
        verbose_name=label,
    )


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("catalog", "0005_gpu_fp64_and_rt_cores"),
    ]

    operations = [
        migrations.AddField(
            model_name="workload",
            name="table",
            field=models.CharField(
                choices=[
                    ("FIT", "Fine-tuning: largest base model by method"),
                    ("TRAINING", "Training: largest model on one and on eight GPUs"),
                    ("SERVING", "Inference: largest model by precision, bandwidth"),
                    ("IMAGES", "Images and video: memory and tensor throughput"),
                    ("RENDERING", "Rendering: FP32 and RT cores"),
                    ("SIMULATION", "Simulation: FP64, FP32 and bandwidth"),
                ],
                default="FIT",
                max_length=12,
                verbose_name="columns of the table",
            ),
        ),
        migrations.AlterField(
            model_name="workload",
            name="example_supplier",
            field=models.ForeignKey(
                blank=True,
                help_text="Empty: the best live ask.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="catalog.supplier",
                verbose_name="supplier of the cost example",
            ),
        ),
        migrations.RemoveConstraint(
            model_name="workloadtext", name="workloadtext_unique_language"
        ),
        # What is there already is the published first version.
        migrations.AddField(
            model_name="workloadtext",
            name="number",
            field=models.PositiveIntegerField(default=1, verbose_name="version"),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="workloadtext",
            name="is_published",
            field=models.BooleanField(default=True, verbose_name="published"),
        ),
        migrations.AlterField(
            model_name="workloadtext",
            name="is_published",
            field=models.BooleanField(default=False, verbose_name="published"),
        ),
        migrations.AddField(
            model_name="workloadtext",
            name="note",
            field=models.CharField(
                blank=True,
                default="",
                help_text="For the list of versions; readers do not see it.",
                max_length=200,
                verbose_name="what changed",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="workloadtext",
            name="digest",
            field=models.CharField(
                blank=True, default="", editable=False, max_length=64
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="workloadtext",
            name="created_at",
            field=models.DateTimeField(
                default=django.utils.timezone.now, verbose_name="saved"
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="workloadtext", name="created_by", field=_actor("saved by")
        ),
        migrations.AddField(
            model_name="workloadtext",
            name="published_at",
            field=models.DateTimeField(
                blank=True, null=True, verbose_name="last published"
            ),
        ),
        migrations.AddField(
            model_name="workloadtext", name="published_by", field=_actor("published by")
        ),
        migrations.AddConstraint(
            model_name="workloadtext",
            constraint=models.UniqueConstraint(
                fields=("workload", "language", "number"),
                name="workloadtext_unique_number",
            ),
        ),
        migrations.AddConstraint(
            model_name="workloadtext",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_published", True)),
                fields=("workload", "language"),
                name="workloadtext_one_published",
            ),
        ),
        migrations.AddConstraint(
            model_name="workloadblock",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("url", ""), ("url__startswith", "https://"), _connector="OR"
                ),
                name="workloadblock_links_are_https",
            ),
        ),
    ]
