from django.contrib.admin.apps import AdminConfig


class StaffAdminConfig(AdminConfig):
    """
    Django's admin, entered by the site's own log-in.
    """

    default_site = "marketplace.admin_site.StaffSite"
