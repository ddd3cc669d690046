from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from catalog.fit import (
    ALL_TARGETS,
    ATTENTION_TARGETS,
    Attention,
    LossKernel,
    Method,
    Optimizer,
    Training,
)
from catalog.forms.planner import AUTO, PlannerForm
from catalog.forms.shape import ShapeForm
from catalog.frameworks import FRAMEWORKS
from catalog.models import BaseModel
from catalog.planner import Wanted

TARGETS = {
    "all": ALL_TARGETS,
    "attention": ATTENTION_TARGETS,
    "qv": ("q", "v"),
}
RESIDUALS = {"16": False, "32": True}


class PlannerState:
    """
    The whole state of the planner: what is planned and, if so, a model of one's own.
    """

    def __init__(
        self, query: Mapping[str, Any], *, models: Iterable[BaseModel]
    ) -> None:
        self.form = PlannerForm(query, models=models)
        self.shape = None
        if self.form.is_own:
            self.shape = ShapeForm(query, like=self.form.chosen)

    def is_valid(self) -> bool:
        is_shape_valid = self.shape is None or self.shape.is_valid()
        return self.form.is_valid() and is_shape_valid

    def query(self) -> dict[str, str]:
        """
        Return the valid state as the query of a link.
        """
        shape = {} if self.shape is None else self.shape.state()
        return {**self.form.state(), **shape}

    def wanted(self) -> Wanted:
        """
        Return what is planned.
        """
        data = self.form.cleaned_data
        if self.shape is None:
            model: BaseModel = data["model"]
            name, longest = model.name, model.max_position_embeddings
        else:
            name = _("Your model")
            longest = self.shape.cleaned_data["max_position_embeddings"]
        return Wanted(
            name=name,
            is_own=self.shape is not None,
            longest=longest,
            training=self._training(),
            framework=FRAMEWORKS[data["framework"]],
            hours=data["hours"],
            storage_gb=data["storage_gb"],
            state=self.query(),
        )

    def _training(self) -> Training:
        data = self.form.cleaned_data
        framework = FRAMEWORKS[data["framework"]]
        if self.shape is None:
            shape = data["model"].architecture()
        else:
            shape = self.shape.architecture()
        loss, optimizer = data["loss"], data["optimizer"]
        return Training(
            architecture=shape,
            method=Method(data["method"]),
            sequence_length=data["sequence_length"],
            micro_batch=data["micro_batch"],
            rank=data["rank"],
            targets=TARGETS[data["targets"]],
            gradient_checkpointing=data["checkpointing"] == "on",
            optimizer=framework.optimizer
            if optimizer == AUTO
            else Optimizer(optimizer),
            loss_kernel=framework.loss if loss == AUTO else LossKernel(loss),
            attention=Attention(data["attention"]),
            residual_fp32=RESIDUALS.get(data["residual"], framework.residual_fp32),
            accumulates_gradients=framework.accumulates_gradients,
            stack=framework.stack,
            gpus=int(data["gpus"]),
        )
