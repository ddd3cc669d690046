import re

from django.views.debug import SafeExceptionReporterFilter


class ReporterFilter(SafeExceptionReporterFilter):
    """
    Mask in error reports what Django's own list of names leaves readable.
    """

    hidden_settings = re.compile(
        SafeExceptionReporterFilter.hidden_settings.pattern
        + "|URL|DSN|STRIPE|WEBHOOK|LOCATION|USER|COOKIE",
        flags=re.IGNORECASE,
    )
