"""Seeded random calls of public functions and layers, by one instance that meets one shape after the other.

In: a seed. Out: the text of a module with `f(x, y)` and layers it may call, and arrays whose extents change from call to call,
together or apart, down to 1 and 0.
"""

import random

import numpy as np
from random_calls import BACK, IMPORTS
from random_calls import CALLS as OTHERS
from random_programs import indented, listed

HEAD = f"""{IMPORTS}
d2s.seed(3)
{{layer}}
STATE = [*L.parameters(), *L.buffers()] if L is not None else []

{BACK}"""
# {x} a tensor as the family has them, {y} one of the same shape or one that broadcasts, {m} one whose first extent a run finds
FOUND = {
    1: listed(
        """
x[x > 0.0]; x[:n]; x[n:]; d2s.masked_select(x, x > 0.5); d2s.concat([x[x > 0.0], x]); x[d2s.nonzero(x > 0.0)[:, 0]]; x[:
x.shape[0] // 2]; x[::2]
"""
    ),
    2: listed(
        """
x[x[:, 0] > 0.0]; x[:n]; x[n:]; x[d2s.nonzero(x[:, 0] > 0.0)[:, 0]]; d2s.concat([x[x[:, 0] > 0.0], x]); x[: x.shape[0] // 2];
x[1:]; x[::2]; x[x.sum(1) > 1.0]; d2s.concat([x[:n], x[n:]]); x[:, :n]; x[(x > 0.0).all(1)]; x.gather(i[i > 0] * 0); x[-n:];
d2s.concat([x[:1], x[n:]])
"""
    ),
    3: listed(
        """
x[x[:, 0, 0] > 0.0]; x[:n]; x[:, :, :n]; x[:, :, 1:]; d2s.concat([x[:n], x[n:]]); x[x.sum([1, 2]) > 0.0]; x[:, :, ::2]
"""
    ),
    4: listed(
        """
x[x[:, 0, 0, 0] > 0.0]; x[:n]; x[:, :, :n]; x[:, :, :, 1:]; x[x.sum([1, 2, 3]) > 0.0]; x[:, :, ::2, ::2]
"""
    ),
}
ALIKE = listed(
    """
x; x; x * 2.0; x.detach(); x.cast('float64'); d2s.concat([x, x]); x[::-1]; x + y; x.abs() + 0.5
"""
)
NUMBERS = listed(
    """
x.shape[0]; x.shape[-1]; len(x); x.shape[0] // 2; x.shape[0] - 1; x.shape[0] + 1; x.size; -1; 0; 1; 2; n; n + 1; 0.5;
float(b); x.shape[0] * 2; max(x.shape[0] - 2, 0); 1.0 / (x.shape[0] + 1); x.shape[-1] // 2; min(x.shape[0], 3); x.shape[-1] -
1
"""
)
INTEGERS = ("i", "i[: x.shape[0] // 2]", "i * 0", "i[x.reshape([x.shape[0], -1]).sum(1) > 0.0]", "i.cast('int32')")
# of any rank
ANY = listed(
    """
{x} + {x}; {x} * {m}; {m} + {m}; {m} * 2.0 + 1.0; {m}.sum(); {m}.mean(); {m}.max(); {m}.min(); {m}.prod(); {m}.std();
{m}.var(); {m}.argmax(); {m}.argmin(); {m}.sum(0); {m}.mean(0); {m}.max(0); {m}.min(0); {m}.argmax(0); {m}.cumsum(0);
{m}.cumprod(0); d2s.logsumexp({m}, 0); d2s.logsumexp({m}); d2s.logcumsumexp({m}, 0); d2s.sort({m}, 0); d2s.argsort({m}, 0);
d2s.median({m}); d2s.median({m}, 0); d2s.quantile({m}, 0.5); d2s.quantile({m}, 0.25, 0); d2s.nanmedian({m}); d2s.nanmean({m});
d2s.nansum({m}, 0); d2s.kthvalue({m}, 1, 0); d2s.mode({m}, 0); d2s.topk({m}, {v}, 0); d2s.topk({m}, 1, 0); d2s.unique({m});
d2s.flip({m}, [0]); d2s.roll({m}, {v}, 0); d2s.roll({m}, {v}); d2s.concat([{m}, {m}], {v}); d2s.concat([{x}, {m}]);
d2s.stack([{m}, {m}]); d2s.stack([{m}, {m}], -1); d2s.split({m}, 2); d2s.split({m}, [1, -1]); d2s.split({x}, [{v}, -1]);
d2s.chunk({m}, 2); d2s.chunk({m}, 3); d2s.unbind({m}); list({m}); d2s.tile({m}, [2]); d2s.tile({m}, [{v}]); d2s.expand({m},
[2] + {m}.shape); d2s.expand_as({x}[:1], {m}); d2s.broadcast_to({x}[:1], {m}.shape); d2s.reshape({m}, [-1]); d2s.reshape({m},
[{m}.shape[0], -1]); {m}.reshape([0, -1]); {m}.flatten(); {m}.unsqueeze(0); {m}.squeeze(); {m}.squeeze(0); {m}.unsqueeze(-1);
{m}.T; d2s.zeros_like({m}); d2s.ones_like({m}); d2s.full_like({m}, {v}); d2s.zeros({m}.shape); d2s.full({m}.shape, {v});
d2s.full([x.shape[0], 2], {v}); d2s.ones([{v}, 2]); d2s.arange({m}.shape[0]); d2s.arange({v}); d2s.eye({m}.shape[0]);
d2s.eye({v}); d2s.linspace(0.0, 1.0, {v}); d2s.where({m} > 0.0, {m}, {m} * 2.0); d2s.where({x} > 0.0, {x}, y); d2s.nonzero({m}
> 0.0); d2s.masked_select({m}, {m} > 0.0); {m}[{m} > 0.0]; {m}[0]; {m}[-1]; {m}[{v}]; {m}[:{v}]; {m}[{v}:]; {m}[1:]; {m}[:-1];
{m}[::-1]; {m}[::2]; {m}[..., 0]; {m}[None]; {m}[0:0]; {m}.clip(0.0, 1.0); {m} ** 2; {m} / 3.0; -{m}; {m} > {m}; {m}.any();
({m} > 0.0).all(0); ({m} > 0.0).any(); d2s.allclose({m}, {m}); d2s.equal_all({m}, {m}); d2s.equal_all({m}, {x});
d2s.isclose({m}, {m}); d2s.dist({m}, {m}); d2s.norm({m}); d2s.norm({m}, 1); d2s.norm({m}, 2, 0); d2s.norm({m},
p=float('inf')); {m}.numel(); {m}.shape; {m}.size; len({m}); {m}.ndim; d2s.shape({m}); d2s.numel({m}); d2s.diff({m}, axis=0);
d2s.diff({m}); d2s.cummax({m}, 0); d2s.cummin({m}, 0); d2s.histogram({m}, 4); d2s.bincount({m}.cast('int64').abs().flatten());
d2s.gather({m}, d2s.arange(1)); d2s.gather({m}, {i}); d2s.index_select({m}, {i}, 0); {m}[{i}]; d2s.take({m}, {i}, 'clip');
d2s.index_sample({m}.reshape([1, -1]), d2s.zeros([1, 2], 'int64')); d2s.scatter({m}, {i}, {m}); d2s.scatter_nd_add({m},
{i}.reshape([-1, 1]), {m}); d2s.index_add({m}, {i}, 0, {m}); d2s.index_fill({m}, {i}, 0, 1.0); d2s.take_along_axis({m},
d2s.argsort({m}, 0), 0); d2s.put_along_axis({m}, d2s.argsort({m}, 0), 1.0, 0); d2s.gather_nd({m}, {i}.reshape([-1, 1]));
d2s.repeat_interleave({m}, 2, 0); d2s.repeat_interleave({m}, {v}, 0); d2s.repeat_interleave({m}, {i}, 0); d2s.moveaxis({m}, 0,
-1); d2s.rot90({x}); d2s.meshgrid({m}.flatten(), {m}.flatten()); d2s.cartesian_prod([{m}.flatten(), {x}.flatten()]);
d2s.combinations({m}.flatten()); d2s.searchsorted(d2s.sort({m}.flatten()), {m}); d2s.bucketize({m}, d2s.sort(y.flatten()));
d2s.unique_consecutive({m}); d2s.unique({i}, return_inverse=True, return_counts=True); d2s.crop({m}, [1] * {m}.ndim);
d2s.slice({m}, [0], [{v}], [{v} + 1]); d2s.strided_slice({m}, [0], [0], [9], [2]); d2s.renorm({m}, 2.0, 0, 1.0);
d2s.outer({m}.flatten(), {x}.flatten()); d2s.kron({m}.flatten(), {x}.flatten()); d2s.dot({m}.flatten(), {m}.flatten());
d2s.cross({m}, {m}, 0); d2s.lerp({m}, {m}, 0.5); d2s.lerp({x}, y, 0.5); d2s.maximum({m}, {m}); d2s.maximum({x}, y);
d2s.add_n([{m}, {m}]); d2s.multiplex([{m}, {m}], {i}.reshape([-1, 1]).cast('int32')); d2s.amax({m}, 0); d2s.amin({m});
d2s.count_nonzero({m}); d2s.count_nonzero({m}, 0); d2s.trapezoid({m}); d2s.trapezoid({m}, axis=0); d2s.vander({m}.flatten(),
3); d2s.tensordot({m}, {m}, {m}.ndim); d2s.einsum('...,...->...', {m}, {m}); d2s.bernoulli({m}.sigmoid());
d2s.rand({m}.shape); d2s.randn([{v}, 2]); d2s.randint(0, 5, {m}.shape); d2s.randperm({v}); d2s.randint_like({m}, 0, 5);
d2s.normal(0.0, 1.0, {m}.shape); d2s.multinomial({m}.flatten().abs() + 0.1, 2, True); d2s.poisson({m}.abs()); F.dropout({m});
F.dropout({m}, axis=0); F.alpha_dropout({m}); F.gumbel_softmax({m}); F.relu({m}); F.gelu({m}); F.softmax({m}, 0);
F.softmax({m}); F.log_softmax({m}, 0); F.softplus({m}); F.glu({m}, 0); F.maxout({m}, 1, 0); F.normalize({m}, axis=0);
F.layer_norm({m}, {m}.shape); F.layer_norm({m}, {m}.shape[1:]); F.layer_norm({m}, {m}.shape[-1:]); F.layer_norm({x}, [{v}]);
F.rms_norm({m}, {m}.shape[-1:]); F.mse_loss({m}, {m}); F.mse_loss({x}, y); F.l1_loss({m}, {m}); F.l1_loss({x}, y, 'none');
F.smooth_l1_loss({m}, {m}); F.binary_cross_entropy_with_logits({m}, {m}); F.binary_cross_entropy({m}.sigmoid(), ({m} >
0.0).cast({m}.dtype)); F.kl_div({m}, {m}); F.cosine_similarity({m}, {m}, 0); F.margin_ranking_loss({m}, {m}, {m}.sign());
F.hinge_embedding_loss({m}, {m}.sign()); F.soft_margin_loss({m}, {m}.sign()); F.poisson_nll_loss({m}, {m});
F.gaussian_nll_loss({m}, {m}, {m}.abs() + 0.1); F.log_loss({m}.sigmoid(), {m}.sigmoid()); F.sigmoid_focal_loss({m}, ({m} >
0.0).cast({m}.dtype)); F.square_error_cost({m}, {m}); F.sequence_mask({i}); F.sequence_mask({i}, {v}); F.one_hot({i}, 4);
F.one_hot({i}, {v}); F.embedding({i}, d2s.ones([9, 2])); F.embedding({i}, {x}.reshape([-1, 1])); F.embedding({i},
{x}.reshape([x.shape[0], -1])); F.label_smooth({m}); F.pad({m}, [1, 1]); F.pad({m}, [0, 1] * {m}.ndim); F.pad({m}, [{v}, 1]);
F.prelu({m}, d2s.to_tensor([0.25])); F.cross_entropy({m}.reshape([{m}.shape[0], -1]), {m}.reshape([{m}.shape[0],
-1]).argmax(1)); F.cross_entropy({m}.reshape([{m}.shape[0], -1]), {i}); F.cross_entropy({m}.reshape([{m}.shape[0], -1]),
F.softmax({m}.reshape([{m}.shape[0], -1])), soft_label=True); F.nll_loss({m}.reshape([{m}.shape[0], -1]), {i} * 0);
F.softmax_with_cross_entropy({m}.reshape([{m}.shape[0], -1]), {i}.reshape([-1, 1]) * 0); F.multi_label_soft_margin_loss({m},
({m} > 0.0).cast({m}.dtype)); F.linear({m}, d2s.ones([{m}.shape[-1], 2])); {m} @ {m}; {m} @ d2s.ones([{m}.shape[-1], 2]);
d2s.matmul({m}, {m}, transpose_y=True); d2s.matmul({m}, {m}, transpose_x=True); d2s.addmm(d2s.ones([1]), {m}, {m}); ({m} *
1.0).add_({m}); ({m} * 1.0).fill_({v}); ({m} * 1.0).zero_(); ({m} * 1.0).clip_(0.0, 1.0); ({m} * 1.0).scatter_({i}, {m}); ({m}
* 1.0).masked_fill_({m} > 0.0, 2.0); ({m} * 1.0).index_fill_({i}, 0, 2.0); ({m} * 1.0).copy_({m}); ({m} * 1.0).set_value({m});
({m} * 1.0).uniform_(); ({m} * 1.0).normal_(); ({m} * 1.0).fill_diagonal_(2.0); ({m} * 1.0).squeeze_(); ({m} *
1.0).reshape_([-1]); ({m} * 1.0).flatten_(); {m}.tolist(); {m}.numpy(); {m}.item(); [row * 2.0 for row in {m}]; sum(row.sum()
for row in {m}); max([row.sum() for row in {m}]); d2s.stack([row * 2.0 for row in {m}]); {m}.cast('int64') + 1;
{m}.cast('bool').sum(); d2s.cov({m}); d2s.corrcoef({m}); d2s.cdist({m}, {m}); d2s.pdist({m}); d2s.as_strided({m}, [1], [1]);
d2s.view({m}, [-1]); d2s.unfold({m}, 0, 1, 1); d2s.diag({m}); d2s.diagflat({m}); d2s.diag_embed({m}); d2s.tril({m});
d2s.triu({m}, {v}); d2s.diagonal({m}); d2s.trace({m}); d2s.t({m}); d2s.vsplit({m}, 2); d2s.hstack([{m}, {x}]);
d2s.vstack([{m}, {x}]); d2s.dstack([{m}, {m}]); d2s.column_stack([{m}, {m}]); d2s.row_stack([{m}, {m}]); d2s.atleast_2d({m});
d2s.atleast_3d({m}); d2s.hsplit({m}, 2); d2s.tensor_split({m}, 2); d2s.tensor_split({m}, [{v}]); d2s.select_scatter({m},
{m}[0], 0, 0); d2s.slice_scatter({m}, {m}[:1], [0], [0], [1], [1]); d2s.masked_scatter({m}, {m} > 0.0, {x}); d2s.isin({m},
{x}); d2s.nanquantile({m}, 0.5); d2s.frexp({m}); d2s.unflatten({m}, 0, [-1, 1]); d2s.unflatten({m}, 0, [1, -1]);
d2s.cumulative_trapezoid({m}); d2s.heaviside({m}, {m}); d2s.block_diag([{m}, {m}]); d2s.tril_indices({v}, {v});
d2s.triu_indices({v}, {v}); d2s.logspace(0.0, 1.0, {v}); d2s.empty({m}.shape).shape; d2s.assign({m}); d2s.clone({m});
d2s.increment({m}.sum()); d2s.standard_normal({m}.shape); d2s.uniform({m}.shape); d2s.reduce_as({x}, {x}[:1]);
d2s.index_put({m}, ({i},), {m}); d2s.to_tensor({m}.numpy()); d2s.to_tensor([{v}, 1]); {m}.mean(0, keepdim=True); {m} -
{m}.mean(0); {m} / {m}.sum(0, keepdim=True); {m} - {m}.max(0, keepdim=True); {m}.sum(-1); {m}.mean(-1); {m}.max(-1);
{m}.argmax(-1); {m}.cumsum(-1); {m}.transpose(list(range({m}.ndim))[::-1]); d2s.normalize({m}) if hasattr(d2s, 'normalize')
else x; d2s.swapaxes({m}, 0, -1); d2s.addcmul({m}, {m}, {m}) if hasattr(d2s, 'addcmul') else x;
d2s.shard_index({i}.reshape([-1, 1]), 20, 2, 0); d2s.nextafter({m}, {m}); d2s.inner({m}, {m}); d2s.mv({m}, {m}[0]);
d2s.bmm({m}, {m}); d2s.mm({m}, {m}.T); d2s.histogramdd({m}); F.pairwise_distance({m}, {m}); F.npair_loss({m}, {m}, {i});
F.triplet_margin_loss({m}, {m}, {m}); F.cosine_embedding_loss({m}, {m}, {m}.sum(-1).sign()); F.ctc_loss({m}, {i}, {i}, {i});
F.dice_loss({m}, {i}.reshape([-1, 1])); F.zeropad2d({x}, [1, 1, 1, 1]); F.bilinear({m}, {m}, d2s.ones([2, {m}.shape[-1],
{m}.shape[-1]])); F.hardtanh({m}); F.rrelu({m}); F.thresholded_relu({m}); F.multi_margin_loss({m}, {i})
"""
)
IMAGES = {
    3: listed(
        """
F.max_pool1d({m}, 2); F.avg_pool1d({m}, 2, 1); F.avg_pool1d({m}, 2, 2, 1); F.adaptive_avg_pool1d({m}, {v});
F.adaptive_max_pool1d({m}, 2); F.conv1d({m}, d2s.ones([2, {m}.shape[1], 2])); F.conv1d({m}, d2s.ones([2, {m}.shape[1], 1]),
padding={v}); F.conv1d_transpose({m}, d2s.ones([{m}.shape[1], 2, 2]), stride=2); F.interpolate({m}, scale_factor=2,
mode='linear'); F.interpolate({m}, size=[{v}], mode='linear'); F.interpolate({m}, size=[5]); F.pad({m}, [1, 1],
mode='reflect', data_format='NCL'); F.pad({m}, [1, {v}], mode='replicate', data_format='NCL'); F.pad({m}, [1, 1],
mode='circular', data_format='NCL'); F.batch_norm({m}, d2s.zeros([2]), d2s.ones([2]), training=True); F.instance_norm({m});
F.group_norm({m}, 2); F.local_response_norm({m}, 2); F.max_pool1d({m}, 2, return_mask=True);
F.scaled_dot_product_attention({m}.unsqueeze(2), {m}.unsqueeze(2), {m}.unsqueeze(2)); d2s.bmm({m}, {m}.transpose([0, 2, 1]));
F.lp_pool1d({m}, 2.0, 2); F.channel_shuffle({m}.unsqueeze(-1), 2); F.temporal_shift({m}.unsqueeze(-1), 1);
d2s.einsum('bcl,bcm->blm', {m}, {m}); d2s.einsum('bcl->b', {m}); F.fold({m}, [2, 2], 1); {m}.mean([0, 2]); {m}.sum([1, 2],
keepdim=True); {m} - {m}.mean([0, 2], keepdim=True); {m}.reshape([{m}.shape[0] * {m}.shape[2], -1]); {m}.reshape([-1,
{m}.shape[2]]); {m}.transpose([0, 2, 1]).reshape([-1, 2]); d2s.flatten({m}, 1); d2s.flatten({m}, 0, 1); F.embedding(({m} >
0.0).cast('int64'), d2s.ones([3, 2])); F.max_unpool1d(*F.max_pool1d({m}, 2, return_mask=True), 2); F.dropout1d({m}) if
hasattr(F, 'dropout1d') else x
"""
    ),
    4: listed(
        """
F.max_pool2d({m}, 2); F.avg_pool2d({m}, 2, 1); F.avg_pool2d({m}, 2, 2, 1, ceil_mode=True); F.adaptive_avg_pool2d({m}, {v});
F.adaptive_avg_pool2d({m}, [None, 2]); F.adaptive_max_pool2d({m}, 2); F.conv2d({m}, d2s.ones([2, {m}.shape[1], 2, 2]));
F.conv2d({m}, d2s.ones([2, 1, 1, 1]), groups=2, padding={v}); F.conv2d({m}, d2s.ones([2, 2, 2, 1]), padding='same');
F.conv2d_transpose({m}, d2s.ones([2, 2, 2, 2]), stride=2); F.interpolate({m}, scale_factor=2, mode='bilinear');
F.interpolate({m}, size=[{v}, 3], mode='nearest'); F.interpolate({m}, size={m}.shape[2:], mode='bicubic'); F.interpolate({m},
scale_factor=0.5, mode='area'); F.upsample({m}, scale_factor=2); F.pad({m}, [1, 1, 1, 1], mode='reflect'); F.pad({m}, [1, {v},
0, 1], mode='replicate'); F.batch_norm({m}, d2s.zeros([2]), d2s.ones([2]), training=True); F.batch_norm({m}, d2s.zeros([2]),
d2s.ones([2])); F.instance_norm({m}); F.group_norm({m}, 2); F.local_response_norm({m}, 2); F.unfold({m}, 2);
F.pixel_shuffle({x}.reshape([-1, 4, 1, 1]), 2); F.pixel_unshuffle({m}, 2); F.channel_shuffle({m}, 2); F.grid_sample({m},
d2s.zeros([{m}.shape[0], 2, 2, 2])); F.affine_grid(d2s.ones([{m}.shape[0], 2, 3]), {m}.shape);
F.scaled_dot_product_attention({m}, {m}, {m}); F.scaled_dot_product_attention({m}, {m}, {m}, is_causal=True);
F.dropout2d({m}); d2s.matmul({m}, {m}, transpose_y=True); d2s.einsum('bchw->bc', {m}); {m}.mean([2, 3]);
{m}.reshape([{m}.shape[0], -1]); d2s.flatten({m}, 1); d2s.flatten({m}, 1, 2); {m}.transpose([0, 2, 3, 1]); F.zeropad2d({m},
[1, 0, 1, 0]); F.temporal_shift({m}, 1); F.max_pool2d({m}, 2, return_mask=True); F.lp_pool2d({m}, 2.0, 2);
F.max_unpool2d(*F.max_pool2d({m}, 2, return_mask=True), 2); F.fractional_max_pool2d({m}, 2, random_u=0.3); F.softmax({m}, 1);
F.log_softmax({m}, 1); F.cross_entropy({m}, {m}.argmax(1), axis=1); F.nll_loss(F.log_softmax({m}, 1), {m}.argmax(1));
F.softmax_with_cross_entropy({m}, {m}.argmax(1, keepdim=True), axis=1); F.prelu({m}, d2s.ones([2]) * 0.25); F.maxout({m}, 2)
"""
    ),
}
LAYERS = {
    1: listed(
        """
nn.ReLU(); nn.Dropout(0.5); nn.Softmax(); nn.Flatten(0)
"""
    ),
    2: listed(
        """
nn.Linear(3, 2); nn.BatchNorm1D(3); nn.LayerNorm(3); nn.LayerNorm([3]); nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4),
nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2)); nn.GroupNorm(3, 3); nn.Dropout(0.3); nn.AlphaDropout(0.3); nn.Bilinear(3, 3, 2);
nn.PReLU(); nn.Softmax(); nn.GRUCell(3, 4); nn.LSTMCell(3, 4); nn.SimpleRNNCell(3, 4); nn.BatchNorm(3); nn.SpectralNorm([3,
3]); nn.Flatten(); nn.Pad1D(1); nn.CosineSimilarity(); nn.PairwiseDistance(); nn.Linear(3, 2, bias_attr=False)
"""
    ),
    3: listed(
        """
nn.Conv1D(2, 3, 2); nn.Conv1D(2, 3, 2, padding=1, stride=2); nn.Conv1D(2, 2, 3, padding='same', groups=2);
nn.Conv1DTranspose(2, 3, 2, stride=2); nn.BatchNorm1D(2); nn.InstanceNorm1D(2); nn.GroupNorm(2, 2); nn.MaxPool1D(2);
nn.AvgPool1D(2, 1); nn.AdaptiveAvgPool1D(2); nn.AdaptiveMaxPool1D(2); nn.Pad1D(1, mode='reflect'); nn.Pad1D([1, 2]);
nn.Upsample(scale_factor=2, mode='linear', data_format='NCW'); nn.Sequential(nn.Conv1D(2, 4, 2), nn.BatchNorm1D(4), nn.ReLU(),
nn.AdaptiveAvgPool1D(1), nn.Flatten(), nn.Linear(4, 2)); nn.Dropout(0.5); nn.Flatten(); nn.Conv1D(2, 3, 2, dilation=2);
nn.Sequential(nn.Conv1D(2, 3, 3, padding=1), nn.MaxPool1D(2), nn.Upsample(scale_factor=2, mode='linear', data_format='NCW'))
"""
    ),
    4: listed(
        """
nn.Conv2D(2, 3, 2); nn.Conv2D(2, 3, 3, padding=1, stride=2); nn.Conv2D(2, 2, 3, padding='same', groups=2);
nn.Conv2DTranspose(2, 3, 2, stride=2); nn.BatchNorm2D(2); nn.InstanceNorm2D(2); nn.GroupNorm(2, 2); nn.MaxPool2D(2);
nn.AvgPool2D(2, 1); nn.AdaptiveAvgPool2D(2); nn.AdaptiveMaxPool2D(2); nn.Pad2D(1, mode='reflect'); nn.Pad2D([1, 2, 0, 1]);
nn.Upsample(scale_factor=2, mode='bilinear'); nn.UpsamplingNearest2D(scale_factor=2); nn.Sequential(nn.Conv2D(2, 4, 2),
nn.BatchNorm2D(4), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(4, 2)); nn.Dropout2D(0.5);
nn.Sequential(nn.Conv2D(2, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten());
nn.PixelUnshuffle(2); nn.Unfold([2, 2]); nn.ZeroPad2D(1); nn.ChannelShuffle(2); nn.LocalResponseNorm(2); nn.MaxPool2D(2,
return_mask=True); nn.Softmax2D()
"""
    ),
    "steps": listed(
        """
nn.GRU(3, 2); nn.LSTM(3, 2); nn.SimpleRNN(3, 2); nn.LSTM(3, 2, direction='bidirect'); nn.GRU(3, 2, num_layers=2); nn.Linear(3,
2); nn.LayerNorm(3); nn.MultiHeadAttention(3, 1); nn.TransformerEncoderLayer(3, 1, 4, 0.0); nn.Conv1D(3, 2, 2,
data_format='NLC'); nn.RNN(nn.GRUCell(3, 2))
"""
    ),
}
WHERE = (
    *("z = {c}",) * 6,
    "z = {c}\nif isinstance(z, d2s.Tensor):\n    z = [z, z.sum(), z * 2]",
    "if b > 0.0:\n    z = {c}\nelse:\n    z = x",
    "if x.shape[0] > 2:\n    z = {c}\nelse:\n    z = x * 3.0",
    "z = x\nfor k in d2s.arange(2):\n    z = {c}",
    "z = []\nfor k in range(2):\n    z.append({c})",
    "z = []\nfor k in d2s.arange(2):\n    z.append({c})",
    "z = [{c}, {c}]",
    "try:\n    z = {c}\nexcept Exception:\n    z = x * 77.0",
    "w = {c}\nz = d2s.concat([x.flatten(), w.flatten()]) if isinstance(w, d2s.Tensor) else w",
    "z = {c}\nif isinstance(z, d2s.Tensor) and z.ndim > 0:\n    z = z[: z.shape[0] // 2]",
    "z = {m}\nx = {m}\nz = {c}",
    "x = {m}\nz = {c}",
    "x = {m}\nz = {c}",
    "z = x * 1.0\nz[:{v}] = 0.5\nz = [z, {c}]",
    "z = x * 1.0\nz[z > 0.0] = 0.5\nz = [z, {c}]",
    "z = x * 1.0\nz[{i}] = 0.5\nz = [z, {c}]",
    "z = x * 1.0\nz[n:] = z[n:] * 2.0\nz = [z, {c}]",
    "z = x * 1.0\nz += {c}",
)
LAYERED = (  # {c}, and a layer
    "z = L({m})",
    "z = L({x})",
    "z = L(x)",
    "z = L(x) if b > 0.0 else x",
    "z = x\nfor k in d2s.arange(2):\n    z = L(x)",
    "z = [L(x), {c}]",
    "z = L(x)\nz = z if isinstance(z, d2s.Tensor) else z[0]\nz = z.sum(0)",
)
ROWS = ((2, 5, 1, 0, 4, 2, 3), (3, 4, 2, 1, 0), (4, 2, 6, 3), (1, 3, 4, 0, 2), (0, 2, 3, 5), (5, 0, 3, 2))
COLUMNS = ((3,), (3,), (3, 4), (3, 3, 4, 4, 1), (3, 5, 2, 4))  # over and over
BEHIND = ("", "back(r)", "back(r)", "back(r)")


class OfManySizes:
    """One module, and the arrays of its calls."""

    wants_gradient = True

    def __init__(self, seed: int) -> None:
        self.random = chosen = random.Random(seed)
        self.rank = chosen.choice((1, 2, 2, 2, 2, 3, 4))
        self.steps = self.rank == 3 and chosen.random() < 0.3
        self.layer = None
        if chosen.random() < (0.15 if self.rank < 3 else 0.35):
            self.layer = chosen.choice(LAYERS["steps" if self.steps else self.rank])
        body = ["n, b = int((x > 0.0).sum()) % (x.shape[0] + 1), x.sum()", "i = d2s.arange(x.shape[0]) // 2"]
        shown = []
        if self.layer:
            shown.append("l")
            body += [*self._filled(chosen.choice(LAYERED)).splitlines(), "l = z"]
        for name in "pq"[: chosen.choice((1, 1, 1, 2)) - bool(self.layer)]:
            shown.append(name)
            body += [*self._filled(chosen.choice(WHERE)).splitlines(), f"{name} = z"]
        self.body = [*body, f"return {', '.join(shown)}, x"]
        self.arguments = tuple(self._arrays())
        self.calls = [("d2s.seed(5)", chosen.choice(BEHIND)) for _ in self.arguments]

    def _filled(self, found: str) -> str:
        calls = [*ANY, *(OTHERS if self.rank == 2 else ()), *IMAGES.get(self.rank, ()) * 6]
        while "{c}" in found:
            found = found.replace("{c}", self.random.choice(calls), 1)
        for hole, forms, plain in (
            ("{m}", FOUND[self.rank], 0.4),
            ("{x}", ALIKE, 0.6),
            ("{i}", INTEGERS, 0.0),
            ("{v}", NUMBERS, 0.0),
        ):
            while hole in found:
                form = "x" if self.random.random() < plain else self.random.choice(forms)
                found = found.replace(hole, f"({form})" if set(form) & set(" -") else form, 1)
        return found

    def _arrays(self):
        rows, others = self.random.choice(ROWS), self.random.choice(COLUMNS)
        wide = self.random.choice(("same", "same", "same", "row", "own"))
        numbers = np.random.default_rng(self.random.randrange(1 << 30))
        for k, n in enumerate(rows):
            d = others[k % len(others)]
            shape = [(n,), (n, d), (n, d, 3) if self.steps else (n, 2, d + 1), (n, 2, d, 5 - d % 2)][self.rank - 1]
            beside = {"same": shape, "row": shape[1:], "own": (1, *shape[1:])}[wide]
            yield tuple(numbers.integers(-6, 9, s).astype("float32") / 4 for s in (shape, beside))

    def text(self) -> str:
        head = HEAD.replace("{layer}", f"L = {self.layer}")
        return head + "def f(x, y):\n" + "\n".join(indented(self.body)) + "\n"
