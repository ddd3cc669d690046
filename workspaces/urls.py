from django.urls import URLPattern

app_name = "workspaces"
urlpatterns: list[URLPattern] = []
