import gettext
import os

from config import messages

CATALOG = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "Wallet"
msgstr "Cartera"

#, fuzzy
msgid "Hold"
msgstr "Guess"

#, python-format
msgid "%(n)s hour"
msgid_plural "%(n)s hours"
msgstr[0] "%(n)s hora"
msgstr[1] "%(n)s horas"
"""


def write_catalog(folder):
    source = folder / "es" / "LC_MESSAGES" / "django.po"
    source.parent.mkdir(parents=True)
    source.write_text(CATALOG)
    return source


def test_compiled_texts_are_what_gettext_reads(tmp_path):
    source = write_catalog(tmp_path)

    assert messages.compile_stale(tmp_path) == 1

    with source.with_suffix(".mo").open("rb") as compiled:
        spanish = gettext.GNUTranslations(compiled)
    assert spanish.gettext("Wallet") == "Cartera"
    assert spanish.ngettext("%(n)s hour", "%(n)s hours", 1) == "%(n)s hora"
    assert spanish.ngettext("%(n)s hour", "%(n)s hours", 2) == "%(n)s horas"
    assert spanish.gettext("Hold") == "Hold"


def test_only_changed_texts_are_compiled_again(tmp_path):
    source = write_catalog(tmp_path)
    messages.compile_stale(tmp_path)

    assert messages.compile_stale(tmp_path) == 0

    later = source.with_suffix(".mo").stat().st_mtime_ns + 1
    os.utime(source, ns=(later, later))
    assert messages.compile_stale(tmp_path) == 1
