from django.forms.renderers import TemplatesSetting


class ComponentRenderer(TemplatesSetting):
    """
    Draw every form field with the site's own field component.
    """

    field_template_name = "components/field.html"
