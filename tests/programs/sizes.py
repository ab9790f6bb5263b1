"""Programs that ask for extents, which differ from call to call, as Python numbers."""

from programs_compare import program, t

import d2s

F = d2s.nn.functional

SETS = tuple((t([[float(k + j) for k in range(4)] for j in range(n)]),) for n in (2, 3, 5, 1, 7))


@program(*SETS)
def counted_with(x):
    n, width = x.shape
    told = n, -n, n * width, n == 3, n in (3, 5), isinstance(n, int), type(n) is int, f"{n}", max(n, 3), bool(n)
    return x / n + width, told


@program(*SETS)
def decided_by(x):
    if x.shape[0] > 2 and x.shape[1] == 4:
        return x * 2
    return x - 1


@program(*SETS)
def looped_up_to(x):
    total = x.sum(0) * 0
    for k in range(x.shape[0]):
        total = total + x[k] * k
    return total


@program(*SETS)
def reshaped(x):
    n = x.shape[0]
    return x.reshape([n, 2, 2]).sum(1), x.reshape([n * 1, -1]), x.reshape((n + 0, x.shape[1])), x.unsqueeze(0).reshape([n, 4])


@program(*SETS)
def reshaped_another_way(x):
    return x.reshape([-1, x.shape[0]]) * 2


@program(*SETS)
def a_shape_is_a_list_of_its_own(x):
    shape = x.shape
    shape[0] = 9
    return x.shape[0], shape, len(x), x.shape == [3, 4], x * 1


@program(*SETS)
def asked_for_what_is_fixed(x):
    return x[: x.shape[0] // 2], [0] * x.shape[0]


@program(*SETS)
def a_diagonal_of_an_extent(x):
    n, m = x.shape
    upper, lower = d2s.triu(d2s.full([m, m], 2.0), n - 3), d2s.tril(x, diagonal=3 - n)
    return upper, lower * x, d2s.tril((x * 2).unsqueeze(0), m - n)


@program(*SETS[:3], (SETS[0][0] * 2,))
def squeezed_where_half_of_an_extent_may_be_one(x):
    return d2s.nn.functional.avg_pool1d(x.t().unsqueeze(0), 2).squeeze(), x.tile([2, 1]).squeeze(0)


LINES = tuple((t([[[0.5 * k - j for k in range(m)] for j in range(2)]] * n),) for n, m in ((2, 4), (3, 5), (5, 6), (1, 3)))


@program(*LINES)
def a_gradient_as_long_as_no_cotangent_tells(x):
    return F.conv1d(x, d2s.to_tensor([[[1.0, 2.0], [0.5, -1.0]]] * 2))


@program(*LINES)
def gradients_as_long_as_no_cotangent_tells_by_path(x):
    kernel = d2s.to_tensor([[[1.0, 2.0], [0.5, -1.0]]] * 2)
    return F.conv1d_transpose(x, kernel) if x.sum() > 0 else F.conv1d(F.conv1d(x, kernel), kernel)


@program(*LINES)
def gradients_as_long_as_no_cotangent_tells_in_a_loop(x):
    kernel, y = d2s.to_tensor([[[1.0, 2.0], [0.5, -1.0]]] * 2), x
    for _ in d2s.arange(2):
        y = F.conv1d(y, kernel) if y.sum() > 0 else y * 2.0
        y = F.pad(y, [0, 1], data_format="NCL")[:, :, : x.shape[2]]
    return y


@program(*((t([1.0] * n), t([1.0] * m)) for n, m in ((2, 5), (3, 4), (4, 4), (5, 5), (3, 6))))
def compared_in_sizes_that_meet_and_part(x, y):
    return d2s.equal_all(x, y), d2s.equal_all(x[1:], y[: x.shape[0] - 1]), x.shape == y.shape


@program(*((t([[[[float(k - j) for k in range(4)] for j in range(n)]]]),) for n in (2, 4, 5, 6)))
def areas_of_a_scale(x):
    return F.interpolate(x, scale_factor=0.5, mode="area"), F.interpolate(x, scale_factor=2, mode="area")


@program(*((t([[[0.5 * k - j] * 2 for k in range(n)] for j in range(n + 1)]),) for n in (2, 4, 3, 1)))
def normalised_by_channels_near(x):
    return F.local_response_norm(x, 2), F.local_response_norm(x[:, : int((x > 0).sum()) % 3 + 1], 3)


@program(*((t(d2s.ones(shape)),) for shape in ([0], [3], [0, 2], [2, 2])))
def itself_where_it_is_empty(x):
    y = x * 2.0 if x.sum() > 0 else x
    return y, x
