"""
Compiles the translations without the gettext programs, which a machine may lack:
`python -m config.messages`.
"""

from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from config.embedded import CHECKOUT


def compile_stale(folder: Path) -> int:
    """
    Compile every catalog under `folder` that changed, and return how many did.
    """
    sources = sorted(folder.glob("*/LC_MESSAGES/*.po"))
    stale = [source for source in sources if is_stale(source)]
    for source in stale:
        with source.open("rb") as text:
            catalog = read_po(text, locale=source.parts[-3])
        part = source.with_suffix(".mo.part")
        with part.open("wb") as compiled:
            write_mo(compiled, catalog)
        # A rename is atomic: no process ever reads half a catalog.
        part.replace(source.with_suffix(".mo"))
    return len(stale)


def is_stale(source: Path) -> bool:
    compiled = source.with_suffix(".mo")
    if not compiled.exists():
        return True
    return compiled.stat().st_mtime_ns < source.stat().st_mtime_ns


if __name__ == "__main__":
    compile_stale(CHECKOUT / "locale")
