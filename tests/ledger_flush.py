"""
Lets the tests empty the tables after a transactional test.

The ledger refuses TRUNCATE, as it should; only a superuser of the database, like the
tests', can step around its triggers.
"""

from django.db.backends.postgresql.operations import DatabaseOperations

TRIGGERS_OFF = "SET session_replication_role = replica"
TRIGGERS_ON = "SET session_replication_role = DEFAULT"
flush = DatabaseOperations.execute_sql_flush


def flush_past_triggers(self, statements):
    flush(self, [TRIGGERS_OFF, *statements, TRIGGERS_ON])


DatabaseOperations.execute_sql_flush = flush_past_triggers
