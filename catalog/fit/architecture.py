from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

ATTENTION_TARGETS = ("q", "k", "v", "o")
ALL_TARGETS = (*ATTENTION_TARGETS, "mlp")


@dataclass(frozen=True)
class Architecture:
    """
    The shape of a decoder model, as in its configuration file.

    `total_params_b` is in billions, `mlp_matrices` is 3 for a gated MLP and 2
    otherwise, `norm_kind` is rmsnorm or layernorm. The three numbers of a mixture of
    experts are 0 for a dense model.
    """

    hidden_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    total_params_b: Decimal | float
    mlp_matrices: int = 3
    norms_per_layer: int = 2
    norm_kind: str = "rmsnorm"
    tie_word_embeddings: bool = False
    num_experts: int = 0
    experts_per_token: int = 0
    moe_intermediate_size: int = 0

    @property
    def parameters(self) -> int:
        return round(Decimal(str(self.total_params_b)) * 10**9)

    @property
    def query_size(self) -> int:
        return self.num_heads * self.head_dim

    @property
    def key_size(self) -> int:
        return self.num_kv_heads * self.head_dim

    @property
    def embedding(self) -> int:
        """
        Parameters of the embedding, and of the output head if that is its own matrix.
        """
        return self.vocab_size * self.hidden_size

    @property
    def active_intermediate_size(self) -> int:
        """
        The width of the MLP that one token passes through.
        """
        if not self.num_experts:
            return self.intermediate_size
        return self.experts_per_token * self.moe_intermediate_size

    @property
    def linear(self) -> int:
        """
        Parameters in the matrices of the decoder layers: what gets quantized.

        Models with dense layers or compressed attention between their experts have
        fewer than their configuration suggests: never more than all but the embedding.
        """
        attention = 2 * self.hidden_size * (self.query_size + self.key_size)
        in_layers = self.num_layers * (attention + self._mlp)
        return min(in_layers, self.parameters - self.embedding)

    @property
    def experts(self) -> int:
        """
        Parameters in the experts, which some loaders leave in 16 bit.
        """
        return min(self.linear, self.num_layers * self._mlp) if self.num_experts else 0

    @property
    def rest(self) -> int:
        """
        Parameters outside the decoder's matrices: embedding, head, norms.
        """
        return self.parameters - self.linear

    @property
    def _mlp(self) -> int:
        matrices = self.mlp_matrices * self.hidden_size
        if not self.num_experts:
            return matrices * self.intermediate_size
        return matrices * self.num_experts * self.moe_intermediate_size

    def adapter_parameters(self, *, rank: int, targets: Iterable[str]) -> int:
        """
        Count the parameters of LoRA adapters: rank x (in + out) per adapted matrix.

        Experts are not adapted: in such models the targets are in the attention.
        """
        per_layer = sum(
            rank * (wide + high)
            for target in targets
            if target != "head"
            for wide, high in self._matrices(target)
        )
        head = rank * (self.hidden_size + self.vocab_size) if "head" in targets else 0
        return self.num_layers * per_layer + head

    def adapted_inputs(self, *, targets: Iterable[str]) -> int:
        """
        Sum the widths of the inputs that the adapters of one layer read.
        """
        return sum(
            wide
            for target in targets
            if target != "head"
            for wide, _ in self._matrices(target)
        )

    @property
    def linear_inputs(self) -> int:
        """
        Sum the widths of the distinct inputs that the matrices of one layer read.
        """
        norms = min(self.norms_per_layer, 2)
        return (
            norms * self.hidden_size + self.query_size + self.active_intermediate_size
        )

    def _matrices(self, target: str) -> list[tuple[int, int]]:
        hidden = self.hidden_size
        if target == "mlp" and self.num_experts:
            return []
        if target == "mlp":
            inner = [(hidden, self.intermediate_size)] * (self.mlp_matrices - 1)
            return [*inner, (self.intermediate_size, hidden)]
        return {
            "q": [(hidden, self.query_size)],
            "k": [(hidden, self.key_size)],
            "v": [(hidden, self.key_size)],
            "o": [(self.query_size, hidden)],
            # One matrix for query, key and value, as in the first Qwen models.
            "qkv": [(hidden, self.query_size + 2 * self.key_size)],
        }[target]
