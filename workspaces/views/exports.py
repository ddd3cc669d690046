from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from limits import limited
from workspaces.recipes import exports
from workspaces.recipes.commands import has_recipe
from workspaces.views.rentals import own_workspace


@require_safe
@limited(a_minute=30)
def export(request: HttpRequest, workspace_id: UUID, tool: str) -> HttpResponse:
    workspace = own_workspace(request, workspace_id)
    if tool not in exports.TOOLS or not has_recipe(workspace):
        raise Http404
    name = exports.file_name(workspace, tool)
    return HttpResponse(
        exports.as_yaml(workspace, tool),
        content_type="application/yaml; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
