"""
Draws the picture that a link to a page is shown with: a title and its figures.

1200 x 630 pixels, in the colors of the site by day. Pure: a card looks the same every
time, so its content is its ETag.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FONTS = Path(__file__).parent / "data" / "fonts"
SIZE = (1200, 630)
EDGE = 72
PAPER, INK, SOFT = "#faf9f6", "#17191c", "#5b5d60"
LINE, BRAND, WELL = "#87837a", "#0b5d51", "#e0efeb"
TITLE_SIZES = (76, 66, 58, 50)
TITLE_LINES = 3
# The mark of components/mark.html on its grid of 24 units.
MARK_SCALE = 16
MARK_PEN = 36
MARK_LINES = (
    (6, 3, 7.5, 3),
    (16.5, 3, 18, 3),
    (3, 6, 3, 18),
    (21, 6, 21, 18),
    (6, 21, 18, 21),
    (12, 2.5, 12, 12, 16, 14.5),
)
# Whoever changes the drawing changes this, so that no cache keeps the old one.
DESIGN = "1"


@dataclass(frozen=True, kw_only=True)
class Card:
    """
    What a card says, ready to print: up to three figures, each with its label.
    """

    site: str
    kicker: str
    title: str
    figures: tuple[tuple[str, str], ...]

    @property
    def etag(self) -> str:
        digest = sha256(f"{DESIGN}{self!r}".encode()).hexdigest()
        return f'"{digest[:32]}"'


@lru_cache(maxsize=128)
def draw(card: Card) -> bytes:
    """
    Return the card as PNG.
    """
    image = Image.new("RGB", SIZE, PAPER)
    pen = ImageDraw.Draw(image)
    _hour_rule(pen)
    _mark(image, x=EDGE, y=74)
    pen.text((EDGE + 52, 76), card.site, font=_font("bold", 34), fill=INK)
    pen.text((EDGE, 158), card.kicker, font=_font("plain", 30), fill=BRAND)
    _title(pen, card.title)
    _figures(pen, card.figures)
    file = BytesIO()
    image.quantize(64, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


@cache
def _font(weight: str, size: int) -> ImageFont.FreeTypeFont:
    name = {"plain": "Inter-Regular", "bold": "InterDisplay-SemiBold"}[weight]
    return ImageFont.truetype(FONTS / f"{name}.otf", size)


def _hour_rule(pen: ImageDraw.ImageDraw) -> None:
    """
    Draw six ticks to the hour along the top, as on the pages.
    """
    for number, x in enumerate(range(EDGE, SIZE[0] - EDGE + 1, 16)):
        pen.line([(x, 0), (x, 26 if number % 6 == 0 else 13)], fill=LINE, width=2)


def _mark(image: Image.Image, *, x: int, y: int) -> None:
    """
    Draw the mark: an hour that is open at the top, with its hand.
    """
    # Drawn large and made small, which smooths its edges.
    large = Image.new("RGB", (24 * MARK_SCALE, 24 * MARK_SCALE), PAPER)
    pen = ImageDraw.Draw(large)
    for start, box in [(180, (3, 3)), (270, (15, 3)), (90, (3, 15)), (0, (15, 15))]:
        ends = [box[0] - 1.1, box[1] - 1.1, box[0] + 7.1, box[1] + 7.1]
        pen.arc(_scaled(ends), start, start + 90, fill=BRAND, width=MARK_PEN)
    for line in MARK_LINES:
        pen.line(_scaled(line), fill=BRAND, width=MARK_PEN, joint="curve")
    image.paste(large.resize((44, 44), Image.Resampling.LANCZOS), (x - 5, y))


def _scaled(numbers: Iterable[float]) -> list[float]:
    return [number * MARK_SCALE for number in numbers]


def _title(pen: ImageDraw.ImageDraw, title: str) -> None:
    for size in TITLE_SIZES:
        font = _font("bold", size)
        lines = _wrap(title, font)
        if len(lines) <= (2 if size > TITLE_SIZES[-1] else TITLE_LINES):
            break
    for number, line in enumerate(lines[:TITLE_LINES]):
        y = 210 + number * round(size * 1.12)
        pen.text((EDGE, y), line, font=font, fill=INK)


def _wrap(text: str, font: ImageFont.FreeTypeFont) -> list[str]:
    """
    Break a text into as few lines as its width allows, of about the same length.
    """
    width = SIZE[0] - 2 * EDGE
    lines = _filled(text, font, width)
    while (
        len(narrower := _filled(text, font, width - 20)) == len(lines) and width > 300
    ):
        lines, width = narrower, width - 20
    return lines


def _filled(text: str, font: ImageFont.FreeTypeFont, width: int) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _figures(pen: ImageDraw.ImageDraw, figures: tuple[tuple[str, str], ...]) -> None:
    if not figures:
        return
    top, bottom = 430, SIZE[1] - 52
    width = (SIZE[0] - 2 * EDGE) / len(figures)
    pen.rounded_rectangle([EDGE, top, SIZE[0] - EDGE, bottom], radius=14, fill=WELL)
    for number, (figure, label) in enumerate(figures):
        x = EDGE + number * width
        if number:
            pen.line([(x, top + 24), (x, bottom - 24)], fill=LINE, width=1)
        pen.text((x + 30, top + 26), figure, font=_font("bold", 48), fill=BRAND)
        pen.text((x + 30, top + 92), label, font=_font("plain", 25), fill=SOFT)
