"""
What somebody would write who bills one hour of all meters by hand, in one statement.

The same charges, transfers and sums as a tick, in the same tables; without its locks,
its catching up, its ends and its look at what a hold covers.
"""

BILL_ONE_HOUR = """
WITH due AS (
    SELECT meter.id, meter.hold_id, wallet.held_id, meter.payee_id, fees.id AS fees_id,
        hold.reference, meter.fee_rate, meter.billed_until AS hour,
        round(meter.rate * meter.units * (
            extract(epoch FROM meter.billed_until - meter.started_at) + 3600
        ) / meter.period_seconds, 2) - meter.billed_amount AS amount
    FROM billing_meter AS meter
    JOIN billing_hold AS hold ON hold.id = meter.hold_id
    JOIN billing_wallet AS wallet ON wallet.id = hold.wallet_id
    JOIN billing_account AS fees ON fees.kind = 'FEES' AND fees.currency = 'USD'
    WHERE meter.stopped_at IS NULL AND meter.billed_until = %(hour)s
), split AS (
    SELECT *, round(amount * fee_rate, 2) AS fee, gen_random_uuid() AS group_id FROM due
), charge AS (
    INSERT INTO billing_charge (meter_id, hour, from_at, to_at, seconds,
        currency, amount, supplier_amount, fee_amount)
    SELECT id, hour, hour, hour + interval '1 hour', 3600,
        'USD', amount, amount - fee, fee FROM split
), transfer AS (
    INSERT INTO billing_transfer (debit_id, credit_id, currency, amount, kind, "group",
        key, reference, happened_at)
    SELECT held_id, payee_id, 'USD', amount - fee, 'USAGE', group_id,
        'c' || (extract(epoch FROM hour) / 3600)::int || '-' || id || '-s',
        reference, hour + interval '1 hour'
    FROM split WHERE amount > fee
    UNION ALL
    SELECT held_id, fees_id, 'USD', fee, 'USAGE_FEE', group_id,
        'c' || (extract(epoch FROM hour) / 3600)::int || '-' || id || '-f',
        reference, hour + interval '1 hour'
    FROM split WHERE fee > 0
), meter AS (
    UPDATE billing_meter AS meter
    SET billed_until = split.hour + interval '1 hour',
        billed_amount = meter.billed_amount + split.amount
    FROM split WHERE meter.id = split.id
)
UPDATE billing_hold AS hold SET captured = hold.captured + billed.amount
FROM (SELECT hold_id, sum(amount) AS amount FROM split GROUP BY hold_id) AS billed
WHERE hold.id = billed.hold_id
"""
