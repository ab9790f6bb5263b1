"""A table of vectors, read by integers.

>>> Embedding(10, 3)(d2s.to_tensor([[1, 2]])).shape
[1, 2, 3]
"""

from typing import Any

from d2s.arguments import expect
from d2s.autodiff.mode import no_grad
from d2s.errors import ArgumentError, brief
from d2s.nn.layer import Layer
from d2s.ops.gather import embedding


class Embedding(Layer):
    """`num_embeddings` vectors of `embedding_dim` numbers; the one at `padding_idx` is 0 and stays so.

    >>> d2s.nn.Embedding(10, 3, padding_idx=-1)
    Embedding(10, 3, padding_idx=9, sparse=False)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        sparse: bool = False,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        for argument, value in (("num_embeddings", num_embeddings), ("embedding_dim", embedding_dim)):
            if not isinstance(value, int) or value <= 0:
                raise ArgumentError("D2S0004", f"Embedding(): '{argument}' is {brief(value)}, expected an int of 1 or more")
        expect("Embedding", "padding_idx", padding_idx, int | None, "an int")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            message = (
                f"Embedding(): 'padding_idx' is {brief(padding_idx)}, expected one of -{num_embeddings} to {num_embeddings - 1}"
            )
            raise ArgumentError("D2S0004", message)
        self._num_embeddings, self._embedding_dim, self._sparse = num_embeddings, embedding_dim, sparse
        self._padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self._name = name
        self.weight: Any = self.create_parameter([num_embeddings, embedding_dim], weight_attr)
        if self._padding_idx is not None:
            self._clear_padding()

    def _clear_padding(self) -> None:
        values = self.weight.numpy()
        values[self._padding_idx] = 0.0
        with no_grad():
            self.weight.set_value(values)

    def forward(self, x: Any) -> Any:
        return embedding(x, self.weight, self._padding_idx, self._sparse)

    def extra_repr(self) -> str:
        padding = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        named = f", name={self._name}" if self._name else ""
        return f"{self._num_embeddings}, {self._embedding_dim}{padding}, sparse={self._sparse}{named}"
