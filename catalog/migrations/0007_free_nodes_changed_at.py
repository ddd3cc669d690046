from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("catalog", "0006_guide_versions"),
    ]

    operations = [
        migrations.AddField(
            model_name="offer",
            name="free_changed_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                null=True,
                verbose_name="free nodes changed at",
            ),
        ),
    ]
