"""What every network of the benchmark can do, and how many numbers it learns."""

from abc import ABC, abstractmethod

from torch import Tensor, nn

from biobgt.model.baselines.graph_encodings import EncodedBatch


class GraphNetwork(nn.Module, ABC):
    """A network over brain graphs, from a dense batch to a logit per group."""

    @abstractmethod
    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""

    def losses(self, batch: EncodedBatch, groups: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits and what is added to the cross-entropy in training, shape ().

        Parameters
        ----------
        batch : EncodedBatch
        groups : Tensor of int, shape (B,)
        """
        logits = self(batch)
        return logits, logits.new_zeros(())


def n_parameters(network: nn.Module) -> int:
    """How many numbers a network learns."""
    return sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)
