import csv

from django.template import Context, Template
from django.utils import translation

from catalog import names
from catalog.loading import DATA
from catalog.models import GpuModel, Region

NAMED = (
    ("regions.csv", ("name", "city")),
    ("storage_plans.csv", ("name", "description")),
    ("gpus.csv", ("note",)),
)


def test_every_text_of_the_data_is_known_to_translators():
    for file, columns in NAMED:
        with (DATA / file).open(newline="") as lines:
            texts = {row[name] for row in csv.DictReader(lines) for name in columns}
        assert texts - {""} <= set(names.KNOWN), file


def test_a_name_without_translation_is_shown_as_it_was_entered():
    with translation.override("es"):
        assert names.region_name(Region(name="Norte", city="Gijón")) == "Norte · Gijón"


def test_a_note_without_translation_is_marked_as_english():
    template = Template("{% load catalog_names %}{{ gpu|gpu_note }}")

    with translation.override("es"):
        shown = template.render(Context({"gpu": GpuModel(note="Odd <card>")}))

    assert shown == '<span lang="en">Odd &lt;card&gt;</span>'
    assert names.gpu_note(GpuModel(note="")) == ""
