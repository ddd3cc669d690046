from django.db import migrations, models

# Slug: FP64 TFLOPS, RT cores; as in catalog/data/gpus.csv when they were added.
FIGURES = {
    "rtx-3090": ("0.6", 82),
    "rtx-4090": ("1.3", 128),
    "rtx-5090": ("1.6", 170),
    "rtx-a4000": ("0.3", 48),
    "rtx-a5000": ("0.4", 64),
    "rtx-a6000": ("0.6", 84),
    "rtx-6000-ada": ("1.4", 142),
    "rtx-pro-6000-blackwell": ("2.0", 188),
    "l4": ("0.5", 58),
    "l40": ("1.4", 142),
    "l40s": ("1.4", 142),
    "a10": ("0.5", 72),
    "a40": ("0.6", 84),
    "a100-pcie-40": ("9.7", 0),
    "a100-sxm-40": ("9.7", 0),
    "a100-pcie-80": ("9.7", 0),
    "a100-sxm-80": ("9.7", 0),
    "h100-pcie": ("25.6", 0),
    "h100-sxm": ("33.5", 0),
    "h100-nvl": ("30.0", 0),
    "h200": ("33.5", 0),
    "gh200-96": ("33.5", 0),
    "v100-sxm2-16": ("7.8", 0),
    "v100-sxm2-32": ("7.8", 0),
    "t4": (None, 40),
    "mi250x": ("47.9", None),
    "mi300x": ("81.7", None),
    "mi325x": ("81.7", None),
    "mi355x": ("78.6", None),
}


def fill(apps, schema_editor):
    gpus = apps.get_model("catalog", "GpuModel").objects
    for slug, (fp64, rt_cores) in FIGURES.items():
        gpus.filter(slug=slug).update(fp64_tflops=fp64, rt_cores=rt_cores)


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0004_gpu_process_memory"),
    ]

    operations = [
        migrations.AddField(
            model_name="gpumodel",
            name="fp64_tflops",
            field=models.DecimalField(
                blank=True,
                decimal_places=1,
                help_text="Dense TFLOPS, without sparsity; empty if it cannot.",
                max_digits=7,
                null=True,
                verbose_name="FP64",
            ),
        ),
        migrations.AddField(
            model_name="gpumodel",
            name="rt_cores",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="Units for ray tracing; 0 if it has none, empty if unknown.",
                null=True,
                verbose_name="RT cores",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
