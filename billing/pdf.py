"""
Documents as PDF files, in the reader's language.

The font is DejaVu Sans, reduced to the Latin, Greek and Cyrillic letters.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from django.conf import settings
from fpdf import FPDF
from fpdf.enums import XPos, YPos

FONTS = Path(__file__).parent / "data" / "fonts"
FONT = "DejaVu"
INK, SOFT, BRAND, LINE = (23, 25, 28), (91, 93, 96), (11, 93, 81), (226, 223, 214)
MARGIN = 20.0
WIDTH = 210 - 2 * MARGIN


class Document(FPDF):
    """
    A page of A4 in the site's look, on which things are written from top to bottom.
    """

    def __init__(self, *, title: str, language: str, at: datetime) -> None:
        super().__init__(format="A4")
        self.set_title(title)
        self.set_lang(language)
        self.set_author(settings.SELLER_NAME)
        # The same document is the same file, whenever it is fetched.
        self.set_creation_date(at)
        self.set_margin(MARGIN)
        self.set_auto_page_break(auto=True, margin=MARGIN)
        self.add_font(FONT, "", FONTS / "DejaVuSans.ttf")
        self.add_font(FONT, "B", FONTS / "DejaVuSans-Bold.ttf")
        self.alias_nb_pages("{pages}")
        self.add_page()

    def footer(self) -> None:
        self.set_y(-15)
        self.set_font(FONT, "", 8)
        self.set_text_color(*SOFT)
        self.cell(0, 5, f"{self.title}   {self.page_no()}/{{pages}}", align="R")

    def line_of(
        self,
        text: str,
        *,
        size: float = 10,
        is_bold: bool = False,
        color: tuple[int, int, int] = INK,
        gap: float = 1.0,
    ) -> None:
        """
        Write a paragraph over the whole width.
        """
        self.set_font(FONT, "B" if is_bold else "", size)
        self.set_text_color(*color)
        self.multi_cell(
            WIDTH, size * 0.5, text, new_x=XPos.LMARGIN, new_y=YPos.NEXT, align="L"
        )
        self.ln(gap)

    def pairs(self, rows: Sequence[tuple[str, str]], *, is_total: bool = False) -> None:
        """
        Write names on the left and what belongs to them on the right.
        """
        for name, value in rows:
            self.set_font(FONT, "B" if is_total else "", 10)
            self.set_text_color(*INK)
            # A name and what belongs to it stay on one page, on two lines each.
            if self.will_page_break(12):
                self.add_page()
            top = self.get_y()
            ends = []
            for text, left, width, align in (
                (name, MARGIN, WIDTH * 0.7, "L"),
                (value, MARGIN + WIDTH * 0.7, WIDTH * 0.3, "R"),
            ):
                self.set_xy(left, top)
                self.multi_cell(
                    width, 6, text, align=align, new_x=XPos.LMARGIN, new_y=YPos.NEXT
                )
                ends.append(self.get_y())
            self.set_xy(MARGIN, max(ends))

    def rule(self) -> None:
        """
        Draw a line across.
        """
        self.set_draw_color(*LINE)
        self.line(MARGIN, self.get_y() + 1, MARGIN + WIDTH, self.get_y() + 1)
        self.ln(3)

    def columns(self, left: str, right: str) -> None:
        """
        Write two blocks of lines beside each other.
        """
        top = self.get_y()
        ends = []
        for number, text in enumerate((left, right)):
            self.set_xy(MARGIN + number * WIDTH / 2, top)
            self.set_font(FONT, "", 10)
            self.set_text_color(*INK)
            self.multi_cell(WIDTH / 2 - 5, 5, text, align="L")
            ends.append(self.get_y())
        self.set_xy(MARGIN, max(ends) + 6)

    def file(self) -> bytes:
        return bytes(self.output())
