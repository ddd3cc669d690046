"""
Whether a VAT number is in use, asked of the EU's register (VIES).
"""

import logging

import requests
from django.conf import settings

from billing.tax import IdStatus

logger = logging.getLogger(__name__)
TIMEOUT_SECONDS = (2, 4)
ANSWERS = {"VALID": IdStatus.VALID, "INVALID": IdStatus.INVALID}


def ask(vat_id: str) -> IdStatus:
    """
    Return whether the number is valid, invalid, or could not be checked.

    Only a plain no of the register is a no: when it, or the member state behind it,
    does not answer, nothing is known.
    """
    if not settings.VIES_URL:
        return IdStatus.UNCHECKED
    try:
        response = requests.get(
            f"{settings.VIES_URL}/ms/{vat_id[:2]}/vat/{vat_id[2:]}",
            timeout=TIMEOUT_SECONDS,
            allow_redirects=False,
        )
        answer = response.json() if response.status_code == requests.codes.ok else {}
    except (requests.RequestException, ValueError) as error:
        logger.warning("VIES did not answer: %s", type(error).__name__)
        return IdStatus.UNCHECKED
    said = answer.get("userError") if isinstance(answer, dict) else None
    return ANSWERS.get(str(said), IdStatus.UNCHECKED)
