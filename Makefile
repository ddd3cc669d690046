# Each target first installs the packages it needs into .venv, from a lock with hashes.

PYTHON ?= python3
BIN := .venv/bin
INSTALL = command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.11 or newer."; exit 1; }; \
	$(PYTHON) config/venv.py
COMPILE = .local/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header
LOCK = $(COMPILE) pyproject.toml
# Enough of a production environment for Django to check its settings.
PRODUCTION = env SITE_URL=https://corehour.example SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(64))') \
	STRIPE_SECRET_KEY=sk_test_check STRIPE_WEBHOOK_SECRETS=whsec_check DATABASE_URL=postgresql://localhost/corehour \
	SELLER_NAME=Check SELLER_ADDRESS=Check SELLER_COUNTRY=DE SELLER_VAT_ID=Check

# More processes than cores: the journeys wait for the site more than they work.
PYTEST = $(BIN)/pytest -n $$($(BIN)/python -c 'import os; print(min(os.cpu_count(), 7) + 1)') --dist loadgroup

.PHONY: help run test coverage simulate bench lint messages lock

help:
	@echo 'make run           start the site with demo data; Ctrl-C stops it and keeps the data'
	@echo 'make run PORT=9000 … on this port, instead of the first free one from 8000 on'
	@echo 'make run FRESH=1   … after throwing away the data of earlier runs'
	@echo 'make test          run all tests on a PostgreSQL, a Valkey and a Chromium of their own'
	@echo 'make coverage      run them and list the lines and branches that none of them reaches'
	@echo 'make simulate      play 5000 seeds of the market and its money against a small model'
	@echo 'make bench         measure the tick against its references, the catalog with 10,000 offers, and the matching'
	@echo 'make lint          check style, types, dependency directions, templates and settings'
	@echo 'make messages      collect the texts to translate into locale/*/LC_MESSAGES/django.po'
	@echo 'make lock          make the requirements*.txt anew from pyproject.toml'

run:
	@$(INSTALL) requirements-local.txt
	@exec $(BIN)/python -m config.launch

test:
	@$(INSTALL) requirements-dev.txt
	@$(BIN)/python -m tests.browser.chromium
	@$(BIN)/python -m tests.workspaces.export_tools & \
	$(PYTEST) $(MEASURE)

coverage:
	@$(MAKE) --no-print-directory test MEASURE='--cov --cov-report=term'

simulate:
	@$(INSTALL) requirements-dev.txt
	SIMULATOR_SEEDS=$${SIMULATOR_SEEDS:-5000} SIMULATOR_STEPS=$${SIMULATOR_STEPS:-28} $(PYTEST) -q tests/simulator

bench:
	@$(INSTALL) requirements-dev.txt
	@DEMO=true $(BIN)/python manage.py bench

lint:
	@$(INSTALL) requirements-dev.txt
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/djade --check --target-version 5.2 $$(find templates -name '*.html')
	$(BIN)/djlint --lint --quiet templates
	DEMO=true $(BIN)/python -W ignore manage.py makemigrations --check --dry-run
	@$(PRODUCTION) $(BIN)/python manage.py check --deploy --fail-level WARNING

messages:
	@$(INSTALL) requirements-dev.txt
	@command -v xgettext >/dev/null || { echo 'Install GNU gettext first (Debian: apt-get install gettext).'; exit 1; }
	DEMO=true $(BIN)/python manage.py makemessages -l es -l id --no-location --no-wrap -i '.venv/*' -i '.local/*' -i 'tests/*'

lock:
	@test -x .local/uv/bin/uv || { $(PYTHON) -m venv .local/uv && .local/uv/bin/pip install --quiet uv; }
	$(LOCK) -o requirements.txt
	$(LOCK) --extra local -o requirements-local.txt
	$(LOCK) --extra local --extra dev -o requirements-dev.txt
	$(COMPILE) requirements-export.in -o requirements-export.txt
