"""Programs that ask for extents, which differ from call to call, as Python numbers."""

from programs_compare import program, t

import d2s

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
