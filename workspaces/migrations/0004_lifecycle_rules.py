from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspaces', '0003_fill_lifecycle'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='workspace',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'RUNNING'), _negated=True), models.Q(('data_offer__isnull', False), ('started_at__isnull', False)), _connector='OR'), name='workspace_running_has_a_start'),
        ),
        migrations.AddConstraint(
            model_name='workspace',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['FUNDED', 'MATCHED', 'PROVISIONING', 'QUEUED']), _negated=True), ('seconds_left__gt', 0), _connector='OR'), name='workspace_waits_for_time_it_paid'),
        ),
        migrations.AddConstraint(
            model_name='workspace',
            constraint=models.CheckConstraint(condition=models.Q(('resume_asked_at__isnull', True), ('state__in', ['STOPPED', 'MATCHED', 'PROVISIONING']), _connector='OR'), name='workspace_goes_on_from_a_stop'),
        ),
        migrations.AddConstraint(
            model_name='workspaceevent',
            constraint=models.CheckConstraint(condition=models.Q(('held__gte', 0), ('returned__gte', 0)), name='workspaceevent_returned_not_negative'),
        ),
    ]
