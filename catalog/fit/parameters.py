from .architecture import Architecture


def count_parameters(shape: Architecture) -> int:
    """
    Count a model's parameters from its shape; its `total_params_b` is not read.

    The embedding V x h, once more for a head of its own, a last norm, and per layer
    the attention 2ha + 2hk, the norms and the MLP 3hf (2hf for two matrices); for E
    experts the MLP is E (3 h f_moe) and the router Eh. A norm has h weights, LayerNorm
    a bias of as many. Biases of matrices are left out: they are 0.03 % at most.

    Compressed attention, shared experts and dense layers among layers of experts are
    not in the shape: such models are counted from their configuration.
    """
    hidden = shape.hidden_size
    matrices = 1 if shape.tie_word_embeddings else 2
    norm = hidden * (2 if shape.norm_kind == "layernorm" else 1)
    attention = 2 * hidden * (shape.query_size + shape.key_size)
    width = shape.intermediate_size
    if shape.num_experts:
        width = shape.num_experts * shape.moe_intermediate_size
    mlp = shape.mlp_matrices * hidden * width + shape.num_experts * hidden
    layer = attention + mlp + shape.norms_per_layer * norm
    return matrices * shape.embedding + shape.num_layers * layer + norm
