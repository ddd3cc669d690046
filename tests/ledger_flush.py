"""
Lets the tests empty the tables after a transactional test.

The ledger refuses TRUNCATE, as it should; only the owner of the tables can switch its
triggers off.
"""

from django.db.backends.postgresql.operations import DatabaseOperations

TABLES = (
    "billing_account",
    "billing_transfer",
    "billing_charge",
    "billing_invoice",
    "billing_walletevent",
)
flush = DatabaseOperations.execute_sql_flush


def switch_triggers(state):
    return [f"ALTER TABLE {table} {state} TRIGGER USER" for table in TABLES]


def flush_past_triggers(self, statements):
    around = switch_triggers("DISABLE"), switch_triggers("ENABLE")
    flush(self, [*around[0], *statements, *around[1]])


DatabaseOperations.execute_sql_flush = flush_past_triggers
