"""
Every setting, from the environment; README.md lists the variables.

Without any variable set this is a safe production configuration that refuses to
start until it is told its secrets; `DEMO=true` is what `make run` uses.
"""

from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from config import embedded, environment

BASE_DIR = Path(__file__).resolve().parent.parent

# What runs here ---------------------------------------------------------------

DEMO = environment.flag("DEMO", default=False)
DEBUG = environment.flag("DEBUG", default=False)
SECRET_KEY = environment.secret(
    "SECRET_KEY", least_length=50, default="demo-only-" * 5 if DEMO else None
)
SECRET_KEY_FALLBACKS = environment.words("SECRET_KEY_FALLBACKS")
SITE_URL = environment.text(
    "SITE_URL", "http://127.0.0.1:8000" if DEMO else None
).rstrip("/")
SITE_NAME = "Corehour"
if urlsplit(SITE_URL).scheme not in {"http", "https"} or not urlsplit(SITE_URL).netloc:
    raise ImproperlyConfigured("SITE_URL: write it as https://corehour.example.")
if DEBUG and not DEMO:
    raise ImproperlyConfigured("DEBUG shows secrets: it is only for DEMO=true.")
IS_HTTPS = SITE_URL.startswith("https://")
if not (IS_HTTPS or DEMO):
    raise ImproperlyConfigured("SITE_URL: a site that takes money needs https.")
_host = urlsplit(SITE_URL).hostname or ""
ALLOWED_HOSTS = environment.words(
    "ALLOWED_HOSTS", f"{_host},127.0.0.1,localhost" if DEMO else _host
)
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS", SITE_URL)
DEMO_CLOCK_FILE = str(embedded.home() / "clock") if DEMO else None

INSTALLED_APPS = [
    "marketplace",
    "workspaces",
    "billing",
    "catalog",
    "config.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.sitemaps",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "csp",
    "django_htmx",
    "djmoney",
    "djmoney.contrib.exchange",
    "post_office",
]

MIDDLEWARE = [
    "config.call_stack.call_stack_middleware",
    "config.middleware.NumberedRequestsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "marketplace.middleware.SessionLimitsMiddleware",
    "marketplace.middleware.PersonalPagesMiddleware",
    "marketplace.middleware.StaffSecondFactorMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "marketplace.context_processors.site",
            ],
        },
    },
]
FORM_RENDERER = "marketplace.form_renderer.ComponentRenderer"

# Data -------------------------------------------------------------------------

# Nobody waits a minute for a page, but the night's checks may take one.
STATEMENT_TIMEOUT_SECONDS = environment.number(
    "STATEMENT_TIMEOUT_SECONDS", default=60, least=1, most=3600
)
_env = environ.Env()
DATABASES = {
    "default": {
        **_env.db_url("DATABASE_URL", default=embedded.database_url()),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "options": (
                "-c lock_timeout=3s -c idle_in_transaction_session_timeout=30s"
                f" -c statement_timeout={STATEMENT_TIMEOUT_SECONDS}s"
                # No statement here runs so long that compiling it first would pay.
                " -c jit=off"
                # What is read lies in memory or on a disk without a head to move.
                " -c random_page_cost=1.1"
            ),
        },
    },
}
if DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
    raise ImproperlyConfigured("DATABASE_URL: only PostgreSQL is supported.")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = environment.text("REDIS_URL", embedded.redis_url())
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL.replace("redis+socket://", "unix://"),
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
        "KEY_PREFIX": "corehour",
    },
}

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://")
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_timeout": 3,
    "socket_connect_timeout": 2,
    # A page that wakes a worker up does not wait for a broker that is down.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
    "interval_max": 0.1,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_ACCEPT_CONTENT = CELERY_RESULT_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = 240
CELERY_TASK_DEFAULT_QUEUE = "corehour"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# What leaks is given back; a child ends after the task in which it grew too large.
CELERY_WORKER_MAX_TASKS_PER_CHILD = 1000
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 500_000  # kB
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

# People -----------------------------------------------------------------------

AUTH_USER_MODEL = "marketplace.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
_validators = "marketplace.passwords"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"{_validators}.LengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": f"{_validators}.NotPersonalValidator"},
    {"NAME": f"{_validators}.NotCommonValidator"},
    {"NAME": f"{_validators}.SiteNameValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "marketplace:dashboard"
ACCOUNT_LOGOUT_REDIRECT_URL = "marketplace:home"
ACCOUNT_ADAPTER = "marketplace.adapters.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_SIGNUP_FORM_HONEYPOT_FIELD = "website"
ACCOUNT_FORMS = {
    "login": "marketplace.account_forms.LogInForm",
    "signup": "marketplace.forms.SignupForm",
    "add_email": "marketplace.account_forms.NewAddressForm",
}
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if IS_HTTPS else "http"
MFA_ADAPTER = "marketplace.adapters.MFAAdapter"
MFA_FORMS = {
    "add_webauthn": "marketplace.account_forms.NewKeyForm",
    "edit_webauthn": "marketplace.account_forms.KeyNameForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = SITE_NAME
ALLAUTH_TRUSTED_PROXY_COUNT = environment.number(
    "TRUSTED_PROXY_COUNT", default=0, least=0, most=5
)

# How many calls of the public API one client may make in a minute.
API_CALLS_PER_MINUTE = environment.number(
    "API_CALLS_PER_MINUTE", default=120, least=1, most=1_000_000
)

# Money ------------------------------------------------------------------------

CURRENCIES = ("USD", "EUR", "GBP")
CURRENCY_CHOICES = [(code, code) for code in CURRENCIES]
PRICE_STALE_DAYS = environment.number("PRICE_STALE_DAYS", default=30, least=1, most=365)
# What of each charge the platform keeps; the rest is the supplier's.
PLATFORM_FEE_RATE = environment.share("PLATFORM_FEE_RATE", default="0.10")
TOP_UP_DAILY_LIMIT = environment.number(
    "TOP_UP_DAILY_LIMIT", default=20_000, least=5, most=10_000_000
)
# Who sells: printed on invoices, and what decides where VAT is due.
_demo_seller = {
    "NAME": f"{SITE_NAME} Demo GmbH",
    "ADDRESS": "Beispielstraße 1, 10115 Berlin, Germany",
    "COUNTRY": "DE",
    "VAT_ID": "DE000000000 (demo)",
}
SELLER_NAME, SELLER_ADDRESS, SELLER_COUNTRY, SELLER_VAT_ID = (
    environment.text(f"SELLER_{field}", demo if DEMO else None)
    for field, demo in _demo_seller.items()
)
# The EU's register of VAT numbers; without it, numbers count as not checked.
VIES_URL = environment.text(
    "VIES_URL", "" if DEMO else "https://ec.europa.eu/taxation_customs/vies/rest-api"
)
EXCHANGE_BACKEND = "djmoney.contrib.exchange.backends.base.SimpleExchangeBackend"
EXCHANGE_RATES_URL = environment.text(
    "EXCHANGE_RATES_URL",
    "https://data-api.ecb.europa.eu/service/data/EXR/D.USD+GBP.EUR.SP00.A"
    "?lastNObservations=5&format=csvdata",
)
PAYMENT_GATEWAY = environment.choice(
    "PAYMENT_GATEWAY",
    default="sandbox" if DEMO else "stripe",
    options={"sandbox", "stripe"},
)
if PAYMENT_GATEWAY == "sandbox" and not DEMO:
    raise ImproperlyConfigured("PAYMENT_GATEWAY=sandbox gives money away: DEMO only.")
SANDBOX_WEBHOOK_SECRET = environment.secret(
    "SANDBOX_WEBHOOK_SECRET", least_length=16, default="whsec_demo_only_not_a_secret"
)
_needs_stripe = PAYMENT_GATEWAY == "stripe"
STRIPE_SECRET_KEY = environment.text("STRIPE_SECRET_KEY", None if _needs_stripe else "")
STRIPE_WEBHOOK_SECRETS = environment.words("STRIPE_WEBHOOK_SECRETS")
if _needs_stripe and not STRIPE_WEBHOOK_SECRETS:
    raise ImproperlyConfigured("Set STRIPE_WEBHOOK_SECRETS (comma-separated whsec_…).")

# Machines ---------------------------------------------------------------------

PROVISIONER = environment.choice(
    "PROVISIONER",
    default="simulated" if DEMO else "manual",
    options={"simulated", "manual"},
)
if PROVISIONER == "simulated" and not DEMO:
    raise ImproperlyConfigured(
        "PROVISIONER=simulated bills machines that are not there."
    )
# How long a supplier has to confirm a start before another node is looked for.
MANUAL_START_MINUTES = environment.number(
    "MANUAL_START_MINUTES", default=60, least=5, most=1440
)
SIMULATED_PROVISIONING_SECONDS = environment.number(
    "SIMULATED_PROVISIONING_SECONDS", default=5, least=0, most=3600
)
SIMULATED_PROVISIONING_SPREAD_SECONDS = environment.number(
    "SIMULATED_PROVISIONING_SPREAD_SECONDS", default=0, least=0, most=3600
)
SIMULATED_FAILURE_PERCENT = environment.number(
    "SIMULATED_FAILURE_PERCENT", default=0, least=0, most=100
)
SIMULATED_LATE_PERCENT = environment.number(
    "SIMULATED_LATE_PERCENT", default=0, least=0, most=100
)
SIMULATED_SEED = environment.number("SIMULATED_SEED", default=1, least=0, most=10**9)
# What one account may have open at once, and fund within 24 hours.
OPEN_WORKSPACES_LIMIT = environment.number(
    "OPEN_WORKSPACES_LIMIT", default=50, least=1, most=10_000
)
FUNDED_DAILY_LIMIT = environment.number(
    "FUNDED_DAILY_LIMIT", default=100, least=1, most=100_000
)

# Mail: a row first (the outbox), sent by a task ---------------------------------

EMAIL_BACKEND = "post_office.EmailBackend"
DEFAULT_FROM_EMAIL = environment.text(
    "DEFAULT_FROM_EMAIL", f"{SITE_NAME} <hello@{'corehour.example' if DEMO else _host}>"
)
SERVER_EMAIL = DEFAULT_FROM_EMAIL
_mail = _env.email_url("EMAIL_URL", default="dummymail://" if DEMO else "smtp://")
EMAIL_HOST = _mail.get("EMAIL_HOST") or "localhost"
EMAIL_PORT = _mail.get("EMAIL_PORT") or 25
EMAIL_HOST_USER = _mail.get("EMAIL_HOST_USER") or ""
EMAIL_HOST_PASSWORD = _mail.get("EMAIL_HOST_PASSWORD") or ""
EMAIL_USE_TLS = _mail.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = _mail.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 10
POST_OFFICE = {
    "BACKENDS": {"default": _mail["EMAIL_BACKEND"]},
    "DEFAULT_PRIORITY": "medium",
    "MAX_RETRIES": 8,
}

# Language ---------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("es", _("Spanish")), ("id", _("Indonesian"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_THOUSAND_SEPARATOR = False
TIME_ZONE = "UTC"

# Files and security -----------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = environment.text("STATIC_ROOT", str(embedded.home() / "static"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        # Chrome applies form-action to redirects, and top-ups redirect to Stripe.
        "form-action": [SELF, "https://checkout.stripe.com"],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "object-src": [NONE],
        "report-uri": ["/csp-reports"],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
SECURE_SSL_REDIRECT = IS_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = IS_HTTPS
SECURE_HSTS_PRELOAD = IS_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
if ALLAUTH_TRUSTED_PROXY_COUNT:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
SESSION_COOKIE_NAME = "__Host-session" if IS_HTTPS else "session"
CSRF_COOKIE_NAME = "__Host-csrf" if IS_HTTPS else "csrf"
BROWSER_COOKIE_NAME = "__Host-browser" if IS_HTTPS else "browser"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
# After how long without a request, and after how long at most, who logged in is out.
SESSION_LIMITS = (timedelta(days=14), timedelta(days=30))
STAFF_SESSION_LIMITS = (timedelta(hours=1), timedelta(hours=12))
SESSION_COOKIE_AGE = int(SESSION_LIMITS[0].total_seconds())
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "config.errors.too_old"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
DEFAULT_EXCEPTION_REPORTER_FILTER = "config.reports.ReporterFilter"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "config.logs.LineFormatter"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    # It tells the log about every glyph of every document.
    "loggers": {"fontTools": {"level": "WARNING"}},
}
