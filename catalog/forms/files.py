"""
A CSV file as somebody uploads it, to be looked at before anything is written.
"""

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog import uploads


class CsvFileForm(forms.Form):
    """
    Takes a CSV file; `name` is what the person's own machine calls it.
    """

    file = forms.FileField(
        label=gettext_lazy("CSV file"),
        help_text=gettext_lazy("UTF-8, at most 2 MB and 20,000 lines."),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
    )

    def clean_file(self) -> str:
        """
        Return the text of the file.
        """
        file = self.cleaned_data["file"]
        self.name = str(file.name)
        if file.size > uploads.MOST_BYTES:
            raise forms.ValidationError(_("The file is larger than 2 MB. Divide it."))
        try:
            return uploads.decode(file.read())
        except uploads.FileRefused as refusal:
            raise forms.ValidationError(str(refusal)) from refusal
