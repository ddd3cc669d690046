from django.db import migrations

REFUSE = """
CREATE FUNCTION marketplace_refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is a log: rows are only added', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER marketplace_match_append_only
BEFORE UPDATE OR DELETE ON marketplace_match
FOR EACH ROW EXECUTE FUNCTION marketplace_refuse_change();

CREATE TRIGGER marketplace_launchevent_append_only
BEFORE UPDATE OR DELETE ON marketplace_launchevent
FOR EACH ROW EXECUTE FUNCTION marketplace_refuse_change();
"""

ALLOW = """
DROP TRIGGER marketplace_launchevent_append_only ON marketplace_launchevent;
DROP TRIGGER marketplace_match_append_only ON marketplace_match;
DROP FUNCTION marketplace_refuse_change();
"""


class Migration(migrations.Migration):

    dependencies = [
        ("marketplace", "0002_launch"),
    ]

    operations = [
        migrations.RunSQL(REFUSE, ALLOW),
    ]
