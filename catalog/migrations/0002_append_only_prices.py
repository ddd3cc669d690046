from django.db import migrations

INSERTED = """
CREATE FUNCTION catalog_offerprice_inserted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    -- Two new versions of one offer wait for each other: each must see its neighbours.
    PERFORM 1 FROM catalog_offer WHERE id = NEW.offer_id FOR NO KEY UPDATE;
    NEW.valid_to := (
        SELECT min(valid_from) FROM catalog_offerprice
        WHERE offer_id = NEW.offer_id AND valid_from > NEW.valid_from
    );
    UPDATE catalog_offerprice SET valid_to = NEW.valid_from
    WHERE offer_id = NEW.offer_id
      AND valid_from = (
        SELECT max(valid_from) FROM catalog_offerprice
        WHERE offer_id = NEW.offer_id AND valid_from < NEW.valid_from
      );
    RETURN NEW;
END $$;

CREATE TRIGGER catalog_offerprice_inserted BEFORE INSERT ON catalog_offerprice
FOR EACH ROW EXECUTE FUNCTION catalog_offerprice_inserted();
"""

CHANGED = """
CREATE FUNCTION catalog_offerprice_changed() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a price version is never deleted'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    -- The end of a period may only be moved by a version that is being inserted.
    IF NEW.valid_to IS DISTINCT FROM OLD.valid_to AND pg_trigger_depth() < 2 THEN
        RAISE EXCEPTION 'the end of a price version follows from the next one'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.confirmed_at < OLD.confirmed_at THEN
        RAISE EXCEPTION 'a price is only confirmed later than before'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF to_jsonb(NEW) - 'valid_to' - 'confirmed_at'
        <> to_jsonb(OLD) - 'valid_to' - 'confirmed_at' THEN
        RAISE EXCEPTION 'a price version is never changed: add a new one'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER catalog_offerprice_changed BEFORE UPDATE OR DELETE ON catalog_offerprice
FOR EACH ROW EXECUTE FUNCTION catalog_offerprice_changed();
"""


class Migration(migrations.Migration):

    dependencies = [
        ("catalog", "0001_catalog"),
    ]

    operations = [
        migrations.RunSQL(
            INSERTED,
            reverse_sql=(
                "DROP TRIGGER catalog_offerprice_inserted ON catalog_offerprice;"
                " DROP FUNCTION catalog_offerprice_inserted();"
            ),
        ),
        migrations.RunSQL(
            CHANGED,
            reverse_sql=(
                "DROP TRIGGER catalog_offerprice_changed ON catalog_offerprice;"
                " DROP FUNCTION catalog_offerprice_changed();"
            ),
        ),
    ]
