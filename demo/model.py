"""A small causal transformer over characters."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class CharTransformer(nn.Module):
    """Predicts the next character.

    Args:
        num_characters: size of the alphabet.
        max_length: longest window.
        width: width of the residual stream.
        num_layers: transformer layers.
        num_heads: attention heads.
    """

    def __init__(
        self, num_characters: int, *, max_length: int, width: int = 64, num_layers: int = 1, num_heads: int = 4
    ) -> None:
        super().__init__()
        self.characters = nn.Embedding(num_characters, width)
        self.positions = nn.Embedding(max_length, width)
        layer = nn.TransformerEncoderLayer(
            width, num_heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, num_characters)

    def forward(self, characters: torch.Tensor) -> torch.Tensor:
        """Returns the mean cross-entropy (nats) of predicting `characters[:, 1:]` from what stands before.

        Args:
            characters: int64, shape (batch, length + 1).
        """
        inputs, targets = characters[:, :-1], characters[:, 1:]
        length = inputs.shape[1]
        hidden = self.characters(inputs) + self.positions(torch.arange(length))
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        hidden = self.layers(hidden, mask=mask, is_causal=True)
        return functional.cross_entropy(self.head(self.norm(hidden)).flatten(0, 1), targets.flatten())
