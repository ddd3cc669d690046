from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("catalog", "0009_stock_alerts"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="offerprice",
            index=models.Index(fields=["valid_to"], name="offerprice_valid_to"),
        ),
    ]
