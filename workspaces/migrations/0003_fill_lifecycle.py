from django.db import migrations

TIME_AND_PLACE = """
    UPDATE workspaces_workspace SET
        seconds_left = CASE
            WHEN state IN ('FUNDED', 'QUEUED', 'MATCHED', 'PROVISIONING')
            THEN hours * 3600 ELSE 0
        END,
        seconds_run = CASE
            WHEN state <> 'RUNNING' AND started_at IS NOT NULL
            THEN extract(epoch FROM stopped_at - started_at) ELSE 0
        END,
        data_offer_id = CASE WHEN started_at IS NOT NULL THEN offer_id END
"""

WHAT_WAS_HELD = """
    UPDATE workspaces_workspaceevent AS event
    SET quote_id = quote.id, held = quote.hold_amount
    FROM workspaces_workspace AS workspace
    JOIN workspaces_quote AS quote ON quote.id = workspace.quote_id
    WHERE event.workspace_id = workspace.id AND event.state = 'FUNDED'
"""

WHERE_IT_WAS = """
    UPDATE workspaces_workspaceevent AS event
    SET offer_id = workspace.offer_id, hourly_amount = workspace.hourly_amount
    FROM workspaces_workspace AS workspace
    WHERE event.workspace_id = workspace.id
        AND event.state NOT IN ('FUNDED', 'QUEUED', 'CANCELLED', 'EXPIRED')
"""


class Migration(migrations.Migration):
    """
    Say of what exists how long it still runs, what was held, and on which node it was.
    """

    dependencies = [
        ('workspaces', '0002_lifecycle'),
    ]

    operations = [
        migrations.RunSQL(sql, migrations.RunSQL.noop)
        for sql in (TIME_AND_PLACE, WHAT_WAS_HELD, WHERE_IT_WAS)
    ]
