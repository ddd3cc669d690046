"""
People get an account.
"""

from datetime import datetime

from django.conf import settings
from django.db import transaction

from billing import services as billing
from marketplace.models import User


@transaction.atomic
def sign_up(
    *,
    email: str,
    password: str | None,
    at: datetime,
    language: str = settings.LANGUAGE_CODE,
    time_zone: str = settings.TIME_ZONE,
) -> User:
    """
    Create a person with an empty wallet in every currency, and return them.

    :raises django.db.IntegrityError: if the e-mail address has an account already
    """
    user = User.objects.create_user(
        email, password, language=language, time_zone=time_zone, date_joined=at
    )
    for currency in settings.CURRENCIES:
        billing.open_wallet(user_id=user.pk, currency=currency)
    return user
