"""
Who may see which page: who adds a page adds it here.
"""

from typing import NamedTuple


class Access(NamedTuple):
    """
    What a GET of a page answers to everybody; `of` names the thing that it is about.
    """

    anonymous: int
    renter: int
    stranger: int
    staff: int
    of: str = ""


def public(of: str = "") -> Access:
    return Access(200, 200, 200, 200, of)


def for_everybody_logged_in(of: str = "") -> Access:
    return Access(302, 200, 200, 200, of)


def for_its_owner(of: str) -> Access:
    return Access(302, 200, 404, 404, of)


def by_post(of: str = "") -> Access:
    return Access(302, 405, 405, 405, of)


def for_staff(of: str = "") -> Access:
    return Access(302, 404, 404, 200, of)


def before_log_in(of: str = "") -> Access:
    return Access(200, 302, 302, 302, of)


def asks_password_again() -> Access:
    return Access(302, 302, 302, 302)


ACCESS = {
    "healthz": public(),
    "csp_reports": Access(405, 405, 405, 405),
    "robots": public(),
    "sitemap": public(),
    "webhook": Access(405, 405, 405, 405, "provider"),
    # allauth
    "account_login": before_log_in(),
    "account_logout": for_everybody_logged_in(),
    "account_inactive": public(),
    "account_signup": before_log_in(),
    "account_reauthenticate": for_everybody_logged_in(),
    "account_request_reauthentication_code": for_everybody_logged_in(),
    "account_confirm_reauthentication_code": Access(302, 302, 302, 302),
    "account_email": for_everybody_logged_in(),
    "account_email_verification_sent": public(),
    "account_change_password": for_everybody_logged_in(),
    "account_set_password": Access(302, 302, 302, 302),
    "account_reset_password": public(),
    "account_confirm_login_code": Access(302, 302, 302, 302),
    "account_confirm_email": public("key"),
    "account_reset_password_from_key_done": public(),
    "account_reset_password_from_key": public("reset"),
    "account_reset_password_done": public(),
    "mfa_index": for_everybody_logged_in(),
    "mfa_authenticate": Access(302, 302, 302, 302),
    "mfa_reauthenticate": Access(302, 302, 302, 302),
    "mfa_activate_totp": asks_password_again(),
    "mfa_deactivate_totp": Access(302, 404, 404, 404),
    "mfa_view_recovery_codes": Access(302, 404, 404, 404),
    "mfa_generate_recovery_codes": asks_password_again(),
    "mfa_download_recovery_codes": Access(302, 404, 404, 404),
    "mfa_list_webauthn": for_everybody_logged_in(),
    "mfa_add_webauthn": asks_password_again(),
    "mfa_reauthenticate_webauthn": Access(302, 302, 302, 302),
    "mfa_remove_webauthn": asks_password_again()._replace(of="passkey"),
    "mfa_edit_webauthn": asks_password_again()._replace(of="passkey"),
    "mfa_login_webauthn": Access(302, 302, 302, 302),
    "usersessions_list": for_everybody_logged_in(),
    # marketplace
    "marketplace:home": public(),
    "marketplace:dashboard": for_everybody_logged_in(),
    "marketplace:market": public(),
    "marketplace:market_gpu": public("gpu"),
    "marketplace:how_matching_works": public(),
    "marketplace:profile": for_everybody_logged_in(),
    "marketplace:mailbox": public(),
    "marketplace:staff": for_staff(),
    "marketplace:staff_launch": for_staff(),
    "marketplace:staff_matches": for_staff(),
    "marketplace:staff_open": for_staff(),
    "marketplace:staff_pause": for_staff(),
    "marketplace:staff_prices": for_staff(),
    "marketplace:staff_prices_check": by_post(),
    "marketplace:staff_prices_save": by_post(),
    "marketplace:staff_prices_csv": for_staff(),
    "marketplace:staff_price_files": for_staff(),
    "marketplace:staff_price_file": for_staff("price_file"),
    "marketplace:staff_price_changes": for_staff(),
    "marketplace:staff_price_proposals": for_staff(),
    "marketplace:staff_undo_save": by_post(),
    "marketplace:staff_undo_price": by_post("price"),
    "marketplace:staff_clock": for_staff(),
    "marketplace:look": for_staff(),
    # suppliers
    "marketplace:supplier": Access(302, 200, 302, 302),
    "marketplace:supplier_apply": Access(200, 200, 200, 200),
    "marketplace:supplier_join": by_post("invitation"),
    "marketplace:supplier_nodes": for_its_owner(""),
    "marketplace:supplier_add": for_its_owner(""),
    "marketplace:supplier_confirm": by_post(),
    "marketplace:supplier_nodes_csv": for_its_owner(""),
    "marketplace:supplier_files": for_its_owner(""),
    "marketplace:supplier_file": for_its_owner("node_file"),
    "marketplace:supplier_change": for_its_owner("listing"),
    "marketplace:supplier_pause": by_post("listing"),
    "marketplace:supplier_resume": by_post("listing"),
    "marketplace:supplier_remove": for_its_owner("listing"),
    "marketplace:supplier_starts": for_its_owner(""),
    # What was only funded is on nobody's node.
    "marketplace:supplier_start": Access(302, 404, 404, 404, "workspace"),
    "marketplace:supplier_refuse_start": Access(302, 404, 404, 404, "workspace"),
    "marketplace:supplier_interrupt": Access(302, 404, 404, 404, "workspace"),
    "marketplace:supplier_earnings": for_its_owner(""),
    "marketplace:supplier_statement_csv": for_its_owner(""),
    # These ask for the password again.
    "marketplace:supplier_bank": Access(302, 302, 404, 404),
    "marketplace:supplier_people": Access(302, 302, 404, 404),
    "marketplace:supplier_remove_person": by_post("invitation"),
    "marketplace:supplier_demand": for_its_owner(""),
    "marketplace:supplier_demand_csv": for_its_owner(""),
    "marketplace:staff_demand": for_staff(),
    "marketplace:staff_demand_csv": for_staff(),
    "marketplace:staff_suppliers": for_staff(),
    "marketplace:staff_supplier": for_staff("supplier"),
    "marketplace:staff_supplier_check": by_post("supplier"),
    "marketplace:staff_supplier_verify": by_post("supplier"),
    "marketplace:staff_supplier_ask": by_post("supplier"),
    "marketplace:staff_supplier_refuse": by_post("supplier"),
    "marketplace:staff_supplier_suspend": by_post("supplier"),
    # catalog
    "catalog:planner": public(),
    "catalog:planner_config": Access(405, 405, 405, 405),
    "catalog:estimates": public(),
    "catalog:estimates_csv": public(),
    "catalog:api": public(),
    "api:index": public(),
    "api:api-root": public(),
    "api:openapi-json": public(),
    "api:gpus": public(),
    "api:gpu": public("gpu"),
    "api:regions": public(),
    "api:models": public(),
    "api:offers": public(),
    "api:offers_csv": public(),
    "api:gpuhunt_csv": public(),
    "api:skypilot_csv": public(),
    "api:price_history": public("gpu"),
    "api:estimate": public(),
    "api:own_estimate": Access(422, 422, 422, 422),
    "api:cost": public("gpu"),
    "api:unknown": Access(404, 404, 404, 404, "nothing"),
    "catalog:gpus": public(),
    "catalog:gpu": public("gpu"),
    "catalog:gpu_prices_csv": public("gpu"),
    "catalog:availability": public(),
    "catalog:ask_for_alert": by_post(),
    "catalog:stop_alert": public("alert"),
    "catalog:workloads": public(),
    "catalog:workload": public("guide"),
    "catalog:workload_card": public("guide"),
    "catalog:gpu_card": public("gpu"),
    "catalog:guide_texts": for_staff(),
    "catalog:guide_versions": for_staff("guide_text"),
    "catalog:guide_preview": for_staff("guide_version"),
    "catalog:guide_edit": for_staff("guide_version"),
    "catalog:guide_publish": by_post("guide_version"),
    # billing
    "billing:wallet": for_everybody_logged_in(),
    "billing:top_up": for_everybody_logged_in(),
    "catalog:compare": public(),
    "billing:top_up_confirm": for_its_owner("top_up"),
    "billing:top_up_status": for_its_owner("confirmed_top_up"),
    "billing:refund": for_its_owner("paid_top_up"),
    "billing:refund_confirm": by_post("paid_top_up"),
    "billing:invoices": for_everybody_logged_in(),
    "billing:invoice": for_its_owner("invoice"),
    "billing:card_remove": by_post(),
    "billing:auto_top_up": for_everybody_logged_in("currency"),
    "billing:auto_top_up_off": by_post("currency"),
    "billing:statement": for_everybody_logged_in("currency"),
    "billing:statement_csv": for_everybody_logged_in("currency"),
    "billing:statement_pdf": for_everybody_logged_in("currency"),
    "billing:sandbox_pay": for_its_owner("sandbox"),
    "billing:sandbox_pay_now": by_post("sandbox"),
    "billing:sandbox_decline": by_post("sandbox"),
    "billing:sandbox_pay_later": by_post("sandbox"),
    "billing:sandbox_fail_later": by_post("sandbox"),
    "billing:sandbox_dispute": by_post("sandbox"),
    "billing:sandbox_dispute_won": by_post("sandbox"),
    "billing:sandbox_dispute_lost": by_post("sandbox"),
    "billing:books": for_staff(),
    "billing:movements": for_staff(),
    "billing:explain_movement": for_staff("movement")._replace(staff=404),
    "billing:disputes": for_staff(),
    "billing:unfreeze": for_staff("frozen_wallet")._replace(staff=404),
    "billing:payouts": for_staff(),
    "billing:payouts_run": by_post(),
    "billing:payouts_csv": for_staff("week"),
    "billing:payout_paid": by_post("payout"),
    "billing:payout_return": for_staff("payout")._replace(staff=404),
    # workspaces
    "workspaces:how_billing_works": public(),
    "workspaces:pilot": public(),
    "workspaces:list": for_everybody_logged_in(),
    "workspaces:request": for_everybody_logged_in(),
    "workspaces:quote": for_its_owner("quote"),
    "workspaces:fund": by_post("quote"),
    "workspaces:again": by_post("quote"),
    "workspaces:detail": for_its_owner("workspace"),
    "workspaces:cancel": for_its_owner("workspace"),
    # What was only funded has nothing to stop and no data to delete.
    "workspaces:stop": Access(302, 302, 404, 404, "workspace"),
    "workspaces:delete": Access(302, 302, 404, 404, "workspace"),
    "workspaces:keys": for_everybody_logged_in(),
    "workspaces:remove_key": by_post("ssh_key"),
    "workspaces:machines": for_staff(),
    # What was only funded is not being started, and does not run.
    "workspaces:staff_start": Access(302, 404, 404, 404, "workspace"),
    "workspaces:staff_fail": Access(302, 404, 404, 404, "workspace"),
    "workspaces:staff_interrupt": Access(302, 404, 404, 404, "workspace"),
    "workspaces:differences": for_staff(),
    "workspaces:close_difference": for_staff()._replace(of="difference"),
    "workspaces:export": for_its_owner("export"),
    "workspaces:save_draft": Access(302, 405, 405, 405),
    "workspaces:delete_draft": by_post("draft"),
    "workspaces:extend": Access(302, 302, 404, 404, "workspace"),
    "workspaces:extend_now": by_post("workspace"),
    "workspaces:auto_extend": by_post("workspace"),
    "workspaces:resume": Access(302, 302, 404, 404, "workspace"),
    "workspaces:give_up": by_post("workspace"),
}
