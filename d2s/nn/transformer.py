"""The Transformer: attention, then a network of two linear layers, each beside a path that changes nothing.

In: sequences [batch, length, numbers], masks, caches of steps before. Out: sequences, and the caches of the next call.

>>> model = Transformer(8, 2, 1, 1, 16)
>>> model(d2s.ones([2, 5, 8]), d2s.ones([2, 3, 8])).shape
[2, 3, 8]
"""

import copy
import math
from collections.abc import Callable
from typing import Any

from d2s.arguments import expect
from d2s.errors import ArgumentError, brief
from d2s.nn import functional
from d2s.nn.containers import LayerList
from d2s.nn.dropout import Dropout
from d2s.nn.layer import Layer
from d2s.nn.linear import Linear
from d2s.nn.multi_head_attention import MultiHeadAttention
from d2s.nn.norm_layers import LayerNorm
from d2s.nn.parameter import ParamAttr
from d2s.ops.create import full
from d2s.ops.shapes import whole_number
from d2s.ops.triangle import triu


def _attrs(given: Any, count: int) -> list[Any]:
    """An attribute for each part of a layer: as listed, or the one for all; a name of one gets a number behind it."""
    if isinstance(given, list | tuple):
        if len(given) != count:
            raise ArgumentError("D2S0004", f"Transformer: {len(given)} attributes are given for {count} parts")
        return list(given)
    if not (isinstance(given, ParamAttr) and given.name):
        return [given] * count
    found = [copy.copy(given) for _ in range(count)]
    for k, attr in enumerate(found):
        attr.name = f"{given.name}_{k}"
    return found


class _Block(Layer):
    """What the layers of encoder and decoder share: a network at their end, and dropout beside a path that changes nothing."""

    def __init__(self, config: dict[str, Any], attentions: int) -> None:
        super().__init__()
        self._config = {name: value for name, value in config.items() if name not in ("self", "__class__")}
        activation = config["activation"]
        if not isinstance(activation, str) or not callable(getattr(functional, activation, None)):
            wanted = "the name of a function of nn.functional"
            raise ArgumentError("D2S0004", f"{type(self).__name__}(): 'activation' is {brief(activation)}, expected {wanted}")
        self.normalize_before = config["normalize_before"]
        width, hidden, heads = config["d_model"], config["dim_feedforward"], config["nhead"]
        weights, biases = (_attrs(config[name], attentions + 1) for name in ("weight_attr", "bias_attr"))
        dropped = config["dropout"]
        seen, inner = (dropped if config[name] is None else config[name] for name in ("attn_dropout", "act_dropout"))
        for k, name in enumerate(("self_attn", "cross_attn")[:attentions]):
            setattr(self, name, MultiHeadAttention(width, heads, seen, weight_attr=weights[k], bias_attr=biases[k]))
        self.linear1 = Linear(width, hidden, weights[-1], biases[-1])
        self.dropout = Dropout(inner)
        self.linear2 = Linear(hidden, width, weights[-1], biases[-1])
        for k in range(1, attentions + 2):
            setattr(self, f"norm{k}", LayerNorm(width, config["layer_norm_eps"]))
        for k in range(1, attentions + 2):
            setattr(self, f"dropout{k}", Dropout(dropped))
        self.activation = getattr(functional, activation)

    def _attended(self, x: Any, attention: Any, norm: Any, dropout: Any, memory: Any, mask: Any, cache: Any) -> tuple[Any, Any]:
        """Past an attention, over x itself or a memory; and the cache of the next call."""
        query = norm(x) if self.normalize_before else x
        key = query if memory is None else memory
        found = attention(query, key, key, mask, cache)
        shown, kept = (found, None) if cache is None else found
        x = x + dropout(shown)
        return (x if self.normalize_before else norm(x)), kept

    def _fed(self, x: Any, norm: Any, dropout: Any) -> Any:
        """Past the network at the end."""
        inner = norm(x) if self.normalize_before else x
        x = x + dropout(self.linear2(self.dropout(self.activation(self.linear1(inner)))))
        return x if self.normalize_before else norm(x)


class TransformerEncoderLayer(_Block):
    """Attention of a sequence to itself, then a network; normalised behind both, or before them.

    >>> d2s.nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", normalize_before=True)(d2s.ones([2, 5, 8])).shape
    [2, 5, 8]
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        super().__init__(locals(), 1)

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        src, kept = self._attended(src, self.self_attn, self.norm1, self.dropout1, None, src_mask, cache)
        src = self._fed(src, self.norm2, self.dropout2)
        return src if cache is None else (src, kept)

    def gen_cache(self, src: Any) -> Any:
        """An empty cache, to be given to the first call."""
        return self.self_attn.gen_cache(src)


class TransformerDecoderLayer(_Block):
    """Attention of a sequence to itself, then to a memory, then a network.

    >>> layer = d2s.nn.TransformerDecoderLayer(8, 2, 16)
    >>> x, memory = d2s.ones([2, 1, 8]), d2s.ones([2, 5, 8])
    >>> shown, (own, static) = layer(x, memory, cache=layer.gen_cache(memory))
    >>> shown.shape, own.k.shape, static.k.shape
    ([2, 1, 8], [2, 2, 1, 4], [2, 2, 5, 4])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        super().__init__(locals(), 2)

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        own, static = (None, None) if cache is None else cache
        tgt, own = self._attended(tgt, self.self_attn, self.norm1, self.dropout1, None, tgt_mask, own)
        tgt, static = self._attended(tgt, self.cross_attn, self.norm2, self.dropout2, memory, memory_mask, static)
        tgt = self._fed(tgt, self.norm3, self.dropout3)
        return tgt if cache is None else (tgt, (own, static))

    def gen_cache(self, memory: Any) -> Any:
        """An empty cache, and the keys and values of a memory."""
        static = self.cross_attn.gen_cache(memory, memory, self.cross_attn.StaticCache)
        return self.self_attn.gen_cache(memory), static


class _Stack(Layer):
    """So many layers made like the first, and at will a norm behind them."""

    def __init__(self, layer: Any, num_layers: int, norm: Any) -> None:
        super().__init__()
        name = type(self).__name__
        expect(name, "layer", layer, _Block, "a TransformerEncoderLayer or a TransformerDecoderLayer")
        expect(name, "norm", norm, Layer | None, "a Layer")
        self.num_layers = whole_number(num_layers, name, "num_layers")
        more = [type(layer)(**layer._config) for _ in range(self.num_layers - 1)]
        self.layers = LayerList([layer, *more])
        self.norm = norm

    def _through(self, x: Any, given: tuple[Any, ...], cache: Any) -> Any:
        kept = []
        for k, layer in enumerate(self.layers):
            if cache is None:
                x = layer(x, *given)
            else:
                x, new = layer(x, *given, cache[k])
                kept.append(new)
        if self.norm is not None:
            x = self.norm(x)
        return x if cache is None else (x, kept)


class TransformerEncoder(_Stack):
    """Encoder layers one behind the other.

    >>> encoder = d2s.nn.TransformerEncoder(d2s.nn.TransformerEncoderLayer(8, 2, 16), 2)
    >>> encoder(d2s.ones([2, 5, 8])).shape
    [2, 5, 8]
    """

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        return self._through(src, (src_mask,), cache)

    def gen_cache(self, src: Any) -> list[Any]:
        """A cache for each layer."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoder(_Stack):
    """Decoder layers one behind the other.

    >>> decoder = d2s.nn.TransformerDecoder(d2s.nn.TransformerDecoderLayer(8, 2, 16), 2)
    >>> decoder(d2s.ones([2, 3, 8]), d2s.ones([2, 5, 8])).shape
    [2, 3, 8]
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        return self._through(tgt, (memory, tgt_mask, memory_mask), cache)

    def gen_cache(self, memory: Any, do_zip: bool = False) -> list[Any]:
        """A cache for each layer; with `do_zip` a list of their first parts, and one of their second."""
        found = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*found, strict=True)) if do_zip else found


class Transformer(Layer):
    """An encoder, and a decoder that looks at what it makes.

    >>> mask = d2s.nn.Transformer.generate_square_subsequent_mask(2)
    >>> mask.tolist()
    [[0.0, -inf], [0.0, 0.0]]
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
    ) -> None:
        super().__init__()
        expect("Transformer", "custom_encoder", custom_encoder, Callable | None, "a Layer")
        expect("Transformer", "custom_decoder", custom_decoder, Callable | None, "a Layer")
        self.d_model, self.nhead = d_model, nhead
        shared = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before)
        self.encoder = custom_encoder
        if custom_encoder is None:
            layer: Any = TransformerEncoderLayer(*shared, _parted(weight_attr, (0, -1)), _parted(bias_attr, (0, -1)))
            self.encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model))
        self.decoder = custom_decoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*shared, weight_attr, bias_attr)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, LayerNorm(d_model))

    def forward(self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None) -> Any:
        return self.decoder(tgt, self.encoder(src, src_mask), tgt_mask, memory_mask)

    @staticmethod
    def generate_square_subsequent_mask(length: int) -> Any:
        """A mask to be added, by which each place sees itself and those before it."""
        return triu(full([length, length], -math.inf), 1)


def _parted(given: Any, places: tuple[int, ...]) -> Any:
    """Of a list of attributes those of an encoder's layer: its attention has one, its network the last."""
    return [given[k] for k in places] if isinstance(given, list | tuple) and len(given) > len(places) else given
