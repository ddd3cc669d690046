"""
How pages take a CSV file: it is kept as it came, and looked at before it is applied.
"""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest

import clock
from catalog import uploads
from catalog.forms.files import CsvFileForm


def csv_file_form(request: HttpRequest) -> CsvFileForm:
    """
    Return the form, bound to the file if one was sent.
    """
    return CsvFileForm(request.POST or None, request.FILES or None)


def kept_file(
    request: HttpRequest, form: CsvFileForm, keep: Callable[..., Any], **about: Any
) -> Any:
    """
    Keep the file of a form and return it; None if there is none, or none to be read.

    The form then says why.
    """
    if not form.is_valid():
        return None
    try:
        return keep(
            name=form.name,
            content=form.cleaned_data["file"],
            actor=request.user,
            at=clock.now(),
            **about,
        )
    except uploads.FileRefused as refusal:
        form.add_error("file", str(refusal))
        return None
