from django.urls import path

from billing.webhooks import webhook

urlpatterns = [path("<slug:provider>/", webhook, name="webhook")]
