"""
What renters do with workspaces, from the quote to the last byte deleted.
"""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

from tests.simulator.books import Refused, half_up
from tests.simulator.requests import Request, Terms
from tests.simulator.suppliers import ASKS
from tests.simulator.units import DAY, HOUR, in_cents, moment
from workspaces import services
from workspaces.models import Workspace

LIMITS = [700_000, *ASKS, 1_000_000, 1_200_000, 1_300_000, 1_300_000]
STORAGE_PRICE = 90_000
# From millionths a month of 730 hours to cents a second.
A_MONTH = 10_000 * 730 * HOUR
QUOTE_LASTS = 15 * 60


class Renters:
    def draw_terms_of_request(self, currency):
        rates = self.stage.rates_on(self.at, currency)
        gb = self.random.choice([0, 50, 200])
        gpu = self.random.choice(self.stage.gpus[:1] * 2 + self.stage.gpus)
        return Terms(
            gpu=gpu.pk,
            gpus=self.random.choice([1, 1, 1, 2]),
            regions=frozenset(
                self.random.choice([["north"], ["south"], *[["north", "south"]] * 2])
            ),
            seconds=self.random.choice([1, 2, 8, 8, 24, 60]) * HOUR,
            limit=self.random.choice(LIMITS),
            currency=currency,
            rates=rates,
            gb=gb,
            storage=Fraction(half_up(STORAGE_PRICE * rates["USD"]) * gb, A_MONTH),
            kept=self.random.choice([0, 1, 7]) * DAY,
            deadline=self.random.choice(
                [None, None, None, self.at + HOUR, self.at + 2 * DAY]
            ),
            is_retried=self.random.random() < 0.5,
        )

    def take_best_ask(self, terms):
        """
        Let the best ask be the limit; Refused if there is none.
        """
        best = self.market.best(terms, self.at)
        if best is None:
            raise Refused
        terms.limit = best

    def ask(self, customer=None):
        wallet, purse = customer or self.random.choice(self.buyers)
        terms = self.draw_terms_of_request(purse.currency)
        is_best = self.random.random() < 0.35
        user = self.stage.users[wallet.user_id]
        self.quoted_at = self.at

        def fund():
            if is_best:
                self.take_best_ask(terms)
            self.wait_over_quote()
            self.books.place(purse, terms.cost(terms.seconds, terms.limit))

        with self.refused_alike(fund):
            quote = services.quote_workspace(
                user=user,
                wanted=self.wanted(terms, is_best=is_best),
                at=moment(self.quoted_at),
            )
            workspace = self.fund_quote(quote, terms)
            request = Request(self.books, self.books.holds[-1], terms, self.at)
            request.id, request.hold_id = workspace.pk, workspace.hold_id
            self.market.requests.append(request)
        return f"{terms.gpus} GPU {terms.seconds // HOUR} h at {terms.limit}"

    def wait_over_quote(self):
        """
        Think about a quote for a while, now and then for too long.
        """
        if self.random.random() < 0.05:
            self.at += QUOTE_LASTS
            raise Refused

    def fund_quote(self, quote, terms):
        """
        Fund twice, or after the process died; it is one workspace and one hold.
        """
        assert half_up(Fraction(quote.limit_price.amount) * 1_000_000) == terms.limit
        assert in_cents(quote.hold_amount) == terms.cost(terms.seconds, terms.limit)
        return self.attempt(
            services.fund_workspace,
            user=quote.user,
            quote_id=quote.pk,
            at=moment(self.at),
        )

    def wanted(self, terms, *, is_best):
        limit = None if is_best else Decimal(terms.limit) / 1_000_000
        return replace(
            self.stage.wanted,
            gpu=self.stage.gpu(terms.gpu),
            gpus=terms.gpus,
            regions=sorted(terms.regions),
            hours=terms.seconds // HOUR,
            wanted_limit=limit,
            currency=terms.currency,
            storage_gb=terms.gb,
            kept_days=terms.kept // DAY,
            start_deadline=None if terms.deadline is None else moment(terms.deadline),
            is_start_retried=terms.is_retried,
        )

    def give_up(self):
        request = self.one_of("FUNDED", "QUEUED", "MATCHED", "PROVISIONING")
        if request is None:
            return None
        with self.refused_alike(lambda: request.cancel(self.at)):
            self.once(services.cancel_workspace, **self.mine(request))
        return request.id

    def stop_workspace(self):
        request = self.one_of("RUNNING", "RUNNING", "QUEUED")
        if request is None:
            return None
        keeps = self.random.random() < 0.7
        with self.refused_alike(lambda: request.stop(self.at, keeps)):
            self.once(services.stop_workspace, keep_data=keeps, **self.mine(request))
        return f"{request.id} {'keeping' if keeps else 'ending'}"

    def go_on(self):
        request = self.one_of("STOPPED")
        if request is None:
            return None
        old = request.terms
        new = self.draw_terms_of_request(old.currency)
        terms = replace(new, storage=old.storage, gb=old.gb, deadline=None)
        terms.is_retried = request.terms.is_retried
        is_best = self.random.random() < 0.35
        self.quoted_at = self.at

        def resume():
            request.need("STOPPED")
            if is_best:
                self.take_best_ask(terms)
            self.wait_over_quote()
            request.resume(terms, self.at)

        with self.refused_alike(resume):
            quote = services.quote_resume(
                user=self.owner(request),
                workspace_id=request.id,
                wanted=self.wanted_resume(terms, is_best=is_best),
                at=moment(self.quoted_at),
            )
            self.fund_quote(quote, terms)
        return f"{request.id} at {terms.limit}"

    def wanted_resume(self, terms, *, is_best):
        everything = self.wanted(terms, is_best=is_best)
        return services.WantedResume(
            gpu=everything.gpu,
            gpus=everything.gpus,
            regions=everything.regions,
            hours=everything.hours,
            kept_days=everything.kept_days,
            wanted_limit=everything.wanted_limit,
        )

    def not_go_on(self):
        request = self.one_of("STOPPED", "MATCHED", "PROVISIONING")
        if request is None:
            return None
        with self.refused_alike(lambda: request.give_up_resume(self.at)):
            self.once(services.give_up_resume, **self.mine(request))
        return request.id

    def extend_workspace(self):
        request = self.one_of("RUNNING", "STOPPED")
        if request is None:
            return None
        by = self.random.choice([HOUR, DAY, 10 * DAY])
        end = request.compute.end if request.compute else request.kept_until
        with self.refused_alike(lambda: request.extend(by, self.at)):
            services.extend_workspace(
                by=timedelta(seconds=by),
                seen_end=moment(end or self.at),
                **self.mine(request),
            )
        return f"{request.id} by {by // HOUR} h"

    def extend_by_itself(self):
        request = self.one_of("RUNNING")
        if request is None:
            return None
        is_on = not request.hold.is_auto

        def rule():
            request.need("RUNNING")
            request.hold.is_auto = is_on

        with self.refused_alike(rule):
            self.attempt(services.switch_auto_extend, is_on=is_on, **self.mine(request))
        return f"{request.id} {is_on}"

    def delete_data(self):
        request = self.one_of("STOPPED")
        if request is None:
            return None
        with self.refused_alike(lambda: request.delete(self.at)):
            self.once(services.delete_data, **self.mine(request))
        return request.id

    def put_aside(self):
        """
        Save a request that is not finished, anew or over an earlier one.

        Whoever names a draft of somebody else gets one of their own.
        """
        wallet, _ = self.random.choice(self.customers)
        gpu = self.random.choice(self.stage.gpus)
        draft_id = self.random.choice([None, *self.drafts])
        is_own = draft_id is not None and self.drafts[draft_id][0] == wallet.user_id
        draft = services.save_draft(
            user=self.stage.users[wallet.user_id],
            typed={"gpu": [gpu.slug], "hours": [str(len(self.drafts))]},
            at=moment(self.at),
            draft_id=draft_id,
        )
        assert is_own == (draft.pk == draft_id)
        self.drafts[draft.pk] = wallet.user_id, gpu.name, moment(self.at)
        return f"{draft.pk} {gpu.name}"

    def one_of(self, *states):
        """
        Draw a request in one of these states, now and then one in any other.
        """
        if self.random.random() < 0.05 and self.market.requests:
            return self.random.choice(self.market.requests)
        state = self.random.choice(states)
        requests = self.market.in_states(state) or self.market.in_states(*states)
        return self.random.choice(requests) if requests else None

    def owner(self, request):
        wallet = next(w for w, purse in self.customers if purse is request.hold.wallet)
        return self.stage.users[wallet.user_id]

    def mine(self, request):
        return {
            "workspace_id": request.id,
            "actor": self.owner(request),
            "at": moment(self.at),
        }

    def shorten(self):
        """
        Take over how much less time the services left where the money did not suffice.

        No more may be cut off than the missing money, and two cents, would pay for.
        """
        for request in self.market.requests:
            if request.room is None:
                continue
            room, request.room = request.room, None
            seconds = Workspace.objects.values_list("seconds_left", flat=True)
            left = seconds.get(pk=request.id)
            missing = request.cost(request.limit) - room
            most = int((missing + 2) / request.terms.pace(request.limit)) + 2
            assert max(request.seconds_left - most, 1) <= left <= request.seconds_left
            request.seconds_left = left
            assert left == 1 or request.cost(request.limit) <= room
