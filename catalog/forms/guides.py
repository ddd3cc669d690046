"""
The form that staff write a guide with: its fields, and a list of small forms for each
kind of piece. What is typed is text, never a template.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.validators import URLValidator
from django.utils.translation import gettext_lazy as _

from catalog.guide_versions import Content
from catalog.models import GpuModel, WorkloadText

STEPS = 3
MOST_PIECES = 30
LISTS = ("best_for", "not_for")


class ProseField(forms.CharField):
    """
    Text of several paragraphs: blank lines separate them, "- " starts a list's line.
    """

    def __init__(self, *, rows: int = 4, **options: Any) -> None:
        options.setdefault("max_length", 3000)
        super().__init__(widget=forms.Textarea(attrs={"rows": rows}), **options)

    def to_python(self, value: Any) -> str:
        # Browsers send a carriage return with every new line.
        return "\n".join(str(super().to_python(value) or "").splitlines())


class LineField(forms.CharField):
    """
    One line that may be long: it is shown whole, and a new line in it is a space.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 2}), **options)

    def to_python(self, value: Any) -> str:
        return " ".join(str(super().to_python(value) or "").split())


class LinesField(ProseField):
    """
    A list, one item a line.
    """

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return [line.strip() for line in text.splitlines() if line.strip()]


class SecureURLField(forms.URLField):
    """
    A link that starts with https, and nothing else.
    """

    default_validators = [URLValidator(schemes=["https"])]

    def __init__(self, **options: Any) -> None:
        super().__init__(assume_scheme="https", **options)


class TextForm(forms.ModelForm):
    summary = LineField(
        label=_("Summary"),
        max_length=200,
        help_text=_("One sentence for lists and search engines."),
    )
    best_for = LinesField(label=_("Best for"), help_text=_("One a line."))
    not_for = LinesField(label=_("Not the best choice for"), help_text=_("One a line."))
    lead = ProseField(label=_("Lead"), help_text=_("The first paragraph."))
    answer = ProseField(
        label=_("Direct answer"),
        rows=5,
        help_text=_("What to rent. A blank line starts a new paragraph."),
    )

    class Meta:
        model = WorkloadText
        fields = [
            "title",
            "summary",
            "lead",
            "answer",
            "reviewed_by",
            "reviewed_date",
            "best_for",
            "not_for",
            "note",
        ]
        widgets = {
            "reviewed_date": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
        }

    # A version is saved by its service; the model's own checks need its number.
    def _post_clean(self) -> None:
        pass


class PassageForm(forms.Form):
    title = LineField(label=_("Title"), max_length=200)
    body = ProseField(label=_("Text"))


class DecisionForm(forms.Form):
    title = LineField(label=_("What is decided"), max_length=200)
    body = LineField(label=_("The answer"), max_length=200)
    note = LineField(label=_("Why"), max_length=300)


class ShortlistForm(forms.Form):
    gpu = forms.ModelChoiceField(GpuModel.objects.order_by("label"), label=_("GPU"))
    body = LineField(label=_("What for"), max_length=200)


class SourceForm(forms.Form):
    title = LineField(label=_("Name"), max_length=200)
    url = SecureURLField(label=_("Link"), max_length=300, help_text=_("With https."))
    note = LineField(label=_("What it says"), max_length=300)


class Pieces(forms.BaseFormSet):
    """
    The pieces of one kind, in the order that their numbers say.
    """

    heading: Any = ""

    def add_fields(self, form: forms.Form, index: int | None) -> None:
        super().add_fields(form, index)
        if "ORDER" in form.fields:
            form.fields["ORDER"].label = _("Place")
            form.fields["ORDER"].widget = forms.NumberInput(attrs={"min": 1})
        if "DELETE" in form.fields:
            form.fields["DELETE"].label = _("Remove")

    def pieces(self) -> list[dict[str, Any]]:
        """
        Return what each piece says, without removed and untouched ones.
        """
        said = [form.cleaned_data for form in self._in_order() if form.cleaned_data]
        left_out = {"ORDER", "DELETE"}
        return [
            {name: value for name, value in data.items() if name not in left_out}
            for data in said
        ]

    def _in_order(self) -> Sequence[forms.Form]:
        return self.ordered_forms if self.can_order else self.forms


def _pieces(heading: Any, form: type[forms.Form], *, fixed: int = 0) -> Any:
    made: Any = forms.formset_factory(
        form,
        formset=Pieces,
        extra=0 if fixed else 1,
        min_num=fixed or 1,
        max_num=fixed or MOST_PIECES,
        validate_min=True,
        validate_max=True,
        can_order=not fixed,
        can_delete=not fixed,
    )
    made.heading = heading
    return made


FORMSETS = {
    "topic": _pieces(_("What matters"), PassageForm),
    "decision": _pieces(_("Decision table"), DecisionForm),
    "step": _pieces(_("Three steps"), PassageForm, fixed=STEPS),
    "shortlist": _pieces(_("Short list of GPUs"), ShortlistForm),
    "question": _pieces(_("Questions"), PassageForm),
    "source": _pieces(_("Sources"), SourceForm),
}


class GuideForms:
    """
    The form and the lists of forms of one version, filled from the one before it.
    """

    def __init__(self, data: Mapping[str, Any] | None, *, start: Content) -> None:
        lines = {
            name: "\n".join(piece["body"] for piece in start.pieces[name])
            for name in LISTS
        }
        self.text = TextForm(data, initial={**start.fields, **lines})
        self.lists = {
            name: made(data, initial=[*start.pieces[name]], prefix=name)
            for name, made in FORMSETS.items()
        }

    def is_valid(self) -> bool:
        # Each part is asked, so that all errors are shown at once.
        return all([self.text.is_valid(), *(x.is_valid() for x in self.lists.values())])

    @property
    def has_errors(self) -> bool:
        return self.text.is_bound and not self.is_valid()

    @property
    def note(self) -> str:
        return str(self.text.cleaned_data["note"])

    def content(self) -> Content:
        """
        Return what a valid form says.
        """
        fields = dict(self.text.cleaned_data)
        fields.pop("note")
        lists = {name: fields.pop(name) for name in LISTS}
        return Content(
            fields=fields,
            pieces={
                **{name: made.pieces() for name, made in self.lists.items()},
                **{
                    name: [{"body": line} for line in lines]
                    for name, lines in lists.items()
                },
            },
        )
