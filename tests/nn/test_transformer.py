"""Attention and Transformer: masks and caches against plain attention, captured functions, gradients of masks, errors."""

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import D2SError
from d2s.nn import functional
from d2s.ops.attention_weights import by_heads, weights_of
from d2s.runtime.differing import same_bits

rng = np.random.default_rng(0)


def values(*shape):
    return rng.standard_normal(shape).astype("float32")


def tensor(*shape, learnt=False):
    return d2s.to_tensor(values(*shape), stop_gradient=not learnt)


def close(a, b):
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=2e-6)


SEEN = rng.random((2, 1, 5, 6)) < 0.7
SEEN[..., 0] = True


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", ["none", "bools", "added", "hides all"])
def test_attention_in_blocks_is_that_with_its_weights_held(mask, causal):
    if causal and mask in ("bools", "hides all"):
        pytest.skip("the other two say it")
    keys = 5 if causal else 6
    q, k, v = tensor(2, 5, 3, 4, learnt=True), tensor(2, keys, 3, 4, learnt=True), tensor(2, keys, 3, 4, learnt=True)
    seen = {"none": None, "bools": d2s.to_tensor(SEEN), "added": tensor(1, 3, 5, keys, learnt=True)}
    seen["hides all"] = d2s.to_tensor(np.where(SEEN & (rng.random((2, 1, 5, 1)) < 0.5), 0, -1e9).astype("float32"))
    seen = seen[mask]
    g, learnt, found = tensor(2, 5, 3, 4), [t for t in (q, k, v, seen) if t is not None and not t.stop_gradient], []
    for held in (False, True):
        if held:
            out = by_heads(d2s.matmul(weights_of(by_heads(q), by_heads(k), seen, causal), by_heads(v)))
        else:
            out = functional.scaled_dot_product_attention(q, k, v, seen, is_causal=causal)
        (out * g).sum().backward()
        found.append([out, *(t.grad for t in learnt)])
        for t in learnt:
            t.clear_gradient(False)
    for a, b in zip(*found, strict=True):
        close(a, b)


def test_dropout_of_weights_is_in_training_only():
    q = tensor(2, 5, 3, 4)
    attention = functional.scaled_dot_product_attention
    assert same_bits(attention(q, q, q, dropout_p=0.5, training=False).numpy(), attention(q, q, q).numpy())
    assert not same_bits(attention(q, q, q, dropout_p=0.5).numpy(), attention(q, q, q).numpy())
    assert not attention(q, q, q, dropout_p=1.0).numpy().any()


@pytest.mark.parametrize("kind", [bool, "int64"])
def test_masks_of_bools_and_integers_hide_alike(kind):
    attention = nn.MultiHeadAttention(8, 2)
    q, k = tensor(2, 5, 8), tensor(2, 6, 8)
    added = np.where(SEEN, 0, -1e9).astype("float32")
    close(attention(q, k, k, d2s.to_tensor(SEEN.astype(kind))), attention(q, k, k, d2s.to_tensor(added)))


def test_with_a_cache_steps_come_to_what_all_at_once_do():
    layer = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0)
    decoder = nn.TransformerDecoder(layer, 2)
    memory, x = tensor(2, 4, 8), tensor(2, 3, 8)
    whole = decoder(x, memory, nn.Transformer.generate_square_subsequent_mask(3))
    cache, steps = decoder.gen_cache(memory), []
    for t in range(3):
        one, cache = decoder(x[:, t : t + 1], memory, cache=cache)
        steps.append(one)
    close(d2s.concat(steps, 1), whole)
    assert [type(part).__name__ for part in cache[0]] == ["Cache", "StaticCache"]
    assert cache[1][0].k.shape == [2, 2, 3, 4]


def test_captured_it_gives_the_same_bits_for_all_batches_and_lengths():
    model = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, normalize_before=True)
    static = d2s.to_static(lambda x, y: model(x, y))
    for batch, length in ((2, 5), (3, 4), (4, 6)):
        x, y, found = tensor(batch, length, 8), tensor(batch, 3, 8), []
        for function in (model, static):
            out = function(x, y)
            (out * out).sum().backward()
            found.append([out, *(p.grad for p in model.parameters())])
            model.clear_gradients(False)
        assert all(same_bits(a.numpy(), b.numpy()) for a, b in zip(*found, strict=True))
    assert len(static.variants) == 2


def test_layers_of_a_stack_are_made_alike_and_learn_apart():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", normalize_before=True), 2)
    first, second = encoder.layers
    assert repr(first) == repr(second)
    assert second.activation is functional.gelu
    assert not same_bits(first.linear1.weight.numpy(), second.linear1.weight.numpy())
    assert len(encoder.parameters()) == 2 * len(first.parameters())


def test_attributes_are_one_for_all_or_one_for_each_part():
    layer = nn.TransformerEncoderLayer(8, 2, 16, weight_attr=[nn.initializer.Constant(1.0), None], bias_attr=False)
    assert layer.self_attn.q_proj.weight.numpy().all()
    assert layer.linear1.bias is None
    assert not (layer.linear1.weight.numpy() == 1).all()


REFUSED = {
    "heads": (lambda: nn.MultiHeadAttention(8, 3), "'num_heads'"),
    "activation": (lambda: nn.TransformerEncoderLayer(8, 2, 16, activation="no"), "'activation'"),
    "attributes": (lambda: nn.TransformerEncoderLayer(8, 2, 16, weight_attr=[None]), "attributes"),
    "layer": (lambda: nn.TransformerEncoder(nn.Linear(2, 2), 2), "TransformerEncoderLayer"),
    "cache": (lambda: nn.MultiHeadAttention(8, 2).gen_cache(tensor(1, 2, 8), type=int), "'type'"),
    "mask": (lambda: nn.MultiHeadAttention(8, 2)(tensor(1, 2, 8), attn_mask=tensor(3, 3)), "broadcast"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(name):
    call, words = REFUSED[name]
    with pytest.raises(D2SError, match=words):
        call()
