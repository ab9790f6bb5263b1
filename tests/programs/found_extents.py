"""Programs with extents that only a run finds: masks, places, slices between numbers of run time, what loops make longer."""

import numpy as np
from programs_compare import program, t

import d2s

X = t([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0], [-0.0, 7.0, 8.0]])
SETS = (X,), (t([[-1.0, -2.0, -3.0]] * 3),), (t([[0.5, 0.0, 2.0], [1.0, -1.0, 0.25], [3.0, 0.0, 0.0]]),)
PARTS = tuple((X, t(n)) for n in (2, 0, -1, 5))
COUNTS = tuple((X, t(n)) for n in (1, 2, 3))


@program(*SETS)
def masked(x):
    y = x[x > 0]
    rows = x[x[:, 0] > 0]
    return y * 2, y.sum(), rows.sum(0), x[x > 0] + y, y.shape[0]


@program(*SETS)
def places(x):
    rows, columns = d2s.nonzero(x, as_tuple=True)
    return x[rows, columns], x.nonzero(), d2s.masked_select(x, x > 1), d2s.where(x > 2)


@program(*SETS, (t([[9.0, 9.0, 9.0]] * 3),))
def what_went_in_or_a_part_of_it(x):
    y = x[x[:, 0] > 0]
    if y.sum() > 10:
        y = x
    return y, x


@program(*PARTS)
def what_went_in_if_no_trip_is_made(x, n):
    y = x
    while y.shape[0] > n + 1:
        y = y[1:]
    return y, x


COUNTED = tuple((X, t(n)) for n in (3, 1, 9, 0, -1, -2, 2))


@program(*COUNTED)
def shaped(x, n):
    k = int(n)
    return x.reshape([k, -1]) * 2, x.flatten().reshape((n, -1)).sum(0)


@program(*COUNTED)
def made(x, n):
    k, total = int(n), 0.0
    rows = d2s.zeros([k, 2], "float64")
    for i in range(k):
        rows[i] = x[0, 0] * i
        total = total + rows.sum()
    return rows * x.sum(), total * x.sum(), d2s.ones([k, n.reshape([1])]).sum(), d2s.full((n * 2,), x.sum()), d2s.eye(k)


@program(*COUNTED)
def repeated(x, n):
    k = max(int(n), 0)
    return x[:1].expand([k, 3]), x[0].expand([k, -1]).sum(), x.tile([k, 1]).sum(0), d2s.broadcast_to(x[0, :1], [k])


@program(*SETS)
def shaped_as_what_was_found(x):
    y, rows = x[x > 0], x[x[:, 0] > 0]
    square = y.reshape([-1, 1]) * d2s.ones([1, y.shape[0]])
    return square, y.reshape([y.shape[0], 1]).flatten(), rows.flatten() + rows.reshape([-1])


@program(*SETS)
def shaped_on_a_path(x):
    n = int((x > 0).sum())
    y = d2s.zeros([n]) if n > 4 else d2s.ones([n, 2])
    return y * x.sum(), y.sum()


@program(*PARTS)
def sliced(x, n):
    return x[:n] * 2, x[1:n:2], x[n::-1], x[-n:], x[:, :n] + 1, x[None, ..., :n], x[:n, n:].sum()


@program(*PARTS)
def assigned(x, n):
    x = x * 1
    x[:n] = 7.0
    y = x * 2
    y[:, n:] = 0.5
    return x, y


@program(*PARTS)
def joined(x, n):
    return d2s.concat([x[:n], x]), d2s.concat([x[:n], x[n:]]) * x[:1], d2s.concat([x, x[:, :n]], axis=1)


@program(*SETS)
def by_the_path(x):
    if x.sum() > 5:
        y = x[x > 0]
    else:
        y = x[0] * 2
    return y * 3, y.sum()


@program(*SETS)
def absent_on_a_path(x):
    y = d2s.masked_select(x, x > 0) if x.sum() > 5 else None
    return x.sum() if y is None else y.sum() * 2


@program(*SETS)
def grows(x):
    y = x[:1]
    while y.sum() < 30 and y.shape[0] < 7:
        y = d2s.concat([y, x[1:2] + 1])
    return y, y.sum()


@program(*SETS)
def doubles(x):
    while x.sum() < 100 and x.shape[0] < 30:
        x = d2s.concat([x, x * 2])
    return x * 2


@program(*SETS)
def shrinks(x):
    y = x.reshape([-1])
    while y.shape[0] > 3 and y.max() > y.min():
        y = y[y > y.mean()]
    return y, y * y


@program(*SETS)
def masked_in_each_trip(x):
    y = x[0] * 0
    for row in x:
        y = y + row[row > 0].sum()
    return y


@program(*COUNTS)
def parts_in_each_trip(x, n):
    found = d2s.zeros([0, 3])
    for i in range(n):
        found = d2s.concat([found, x[:i].sum(0, keepdim=True) * x[i : i + 1]])
    return found, found.sum(1)


@program(*COUNTS)
def change_places(x, n):
    y, z = x[:1] * 1, x[:2] * 1
    for _ in range(n):
        y, z = z, d2s.concat([y, z * 2])
    return y, z


@program(*COUNTS)
def the_longer_one_takes_the_other_place(x, n):
    y, z = x[:1] * 1, x[:2] * 1
    for _ in range(n):
        y, z = d2s.concat([z * 2, y]), y
    return y, z


@program(*COUNTS)
def its_beginning_is_read_behind_the_loop(x, n):
    first = x[:2] * 1
    y = first
    for _ in range(n + 3):
        y = d2s.concat([y, x[1:2]])
    return y * y, first * 3


@program(*COUNTS)
def grows_in_two_loops(x, n):
    y = x[0]
    for _ in range(n):
        z = x[0][:1]
        while z.shape[0] < n + 1:
            z = d2s.concat([z, z[:1] * 2])
        y = d2s.concat([y, z])
        if y.sum() > 4:
            y = y[1:] * 0.5
    return y


@program(*COUNTS)
def made_in_each_trip(x, n):
    for k in range(n):
        y = x[: k + 1] * 2
    return y, y.sum(0)


@program(*COUNTS)
def made_anew_and_what_it_was(x, n):
    y = z = x * 1
    for k in range(n):
        y, z = x[x > k], y * 2
    return y, z


@program(*COUNTS)
def reckoned_on_a_path_from_what_a_trip_found(x, n):
    total = x.sum()
    for k in range(n):
        row = x[: k + 1].flatten()
        if row.sum() > 0:
            total = total + row.tile([2]).tanh().sum()
    return total


@program(*COUNTS)
def reckoned_in_a_loop_from_what_the_one_around_found(x, n):
    total, y = x.sum(), x[0]
    for k in range(n):
        row = x[: k + 1].flatten()
        for _ in range(k + 1):
            y = row.tile([2]).tanh()
            total = total + (y * y).sum()
    return y, total


@program(*SETS)
def different(x):
    special = d2s.concat([x.flatten(), x[0], x[0] * float("nan"), x[1] * 0.0])
    found = d2s.unique(special, return_index=True, return_inverse=True, return_counts=True)
    return found, d2s.unique(x.astype("int32")), d2s.unique(x[x > 100])


@program(*PARTS)
def counted_up(x, n):
    return d2s.arange(n, 5), d2s.arange(n, dtype="float32"), d2s.arange(3)[d2s.arange(n) % 3]


@program(*SETS)
def put_where_masked(x):
    y = x * 1
    y[y > 2] = y[y > 2] * 2
    y[d2s.nonzero(y < 0, as_tuple=True)] = 1.0
    return y, len(y[y > 2])


@program(*SETS)
def nothing_to_choose_from(x):
    return x[x > 1].max(), d2s.argmax(x[x > 2])


@program(*((X, t(n)) for n in (0, 1, 2)))
def one_row(x, n):
    return x[n : n + 1] * x, d2s.concat([x[n : n + 1], x])


@program(*SETS)
def used_like_others(x):
    y = x[x[:, 0] > 0]
    total = x[0] * 0
    for row in y:
        total = total + row * row
    return y - y.mean(0, keepdim=True), d2s.sort(y, 0), d2s.matmul(y, x), d2s.nn.functional.softmax(y), total, y[:, -1], y[:2].T


FOUR = t([1.0, 2.0, 3.0, 4.0])
COUNTS = (FOUR, t(1)), (FOUR, t(3)), (FOUR, t(5)), (FOUR, t(0))


@program(*COUNTS)
def split_by_numbers(x, n):
    a, b = x.split([int(n), 4 - int(n)])
    return a * 2, b * 3


@program(*COUNTS)
def split_by_a_tensor_and_the_rest(x, n):
    parts = d2s.split(x, [n, -1])
    return parts[0].sum(), parts[1] * 2


@program((FOUR, t([1, 3])), (FOUR, t([2, 2])), (FOUR, t([2, 3])))
def split_by_a_list_that_a_run_has(x, lengths):
    return [p.sum() for p in x.split(lengths.tolist())], x.split([1, 3]), x.split(2)


@program(*COUNTS)
def the_largest_of_so_many(x, n):
    v, i = d2s.topk(x, int(n))
    w, j = x.topk(n, largest=False)
    return v * 2, i, w, j, x.topk(2)


@program((t([[1.0, 5.0, 2.0], [4.0, 0.0, 9.0]]), t(1)), (t([[1.0, 5.0, 2.0], [4.0, 0.0, 9.0]]), t(2)))
def the_largest_along_an_axis(x, n):
    v, i = d2s.topk(x, n, axis=0) if n < 2 else d2s.topk(x, int(n))
    return v.sum(), i


ONE_WIDE = tuple((t(start), t(n)) for start in ([[1.0], [-2.0]], [[1.0, 2.0], [3.0, -0.5]]) for n in (0, 1, 3))


@program(*ONE_WIDE)
def last_of_what_a_loop_makes_longer(x, n):
    for _ in range(n):
        x = d2s.concat([x, x[:, -1].unsqueeze(1) + 1], 1)
    return x


@program(*ONE_WIDE)
def last_ones_of_what_a_loop_makes_longer(x, n):
    for _ in range(n):
        y = x * 2
        y[:, -1] += 1.0
        x = d2s.concat([y, x[:, -1:] * y[:, -1:]], 1)
    return x


@program(*ONE_WIDE)
def a_place_that_may_not_be_there(x, n):
    for _ in range(n):
        x = d2s.concat([x, x[:, -2].unsqueeze(1) + 1], 1)
    return x


BEAMS = tuple((X, t(n)) for n in (0, 1, 2, 5))


@program(*BEAMS)
def beams_that_grow(x, n):
    tokens, scores = d2s.ones([3, 3, 1]), x
    for _ in range(n):
        scores, parents = d2s.topk((scores.unsqueeze(-1) + x).reshape([3, 9]), 3)
        tokens = d2s.take_along_axis(tokens, (parents // 3).unsqueeze(-1).expand([3, 3, tokens.shape[2]]), 1)
        tokens = d2s.concat([tokens, (parents % 3).unsqueeze(-1).astype("float32")], -1)
    return tokens, scores


@program((X, t(2)), (X, t(3)))
def what_a_run_finds_expanded_to_what_it_is(x, n):
    return x[:n].expand([4, 2, 3]) * 2.0 if n < 3 else x.sum()


ROWS = t([[1.0, 2.0], [3.0, 4.0], [-5.0, 6.0], [7.0, -8.0]])
KEPT = tuple((x, t(kept)) for x in (ROWS, ROWS * -1.0) for kept in ([True, False, True, True], [False] * 4, [True] * 4))


@program(*KEPT)
def what_follows_from_what_is_found_on_one_path(x, m):
    """The other path has nothing of it, nor the extent it follows from."""
    line = padded = None
    wide = x
    if x.sum() > 0:
        line, padded = x[m].flatten(), d2s.nn.functional.pad(x[m], [1, 1, 0, 0])
        wide = d2s.nn.functional.interpolate(x[m].t().unsqueeze(0), scale_factor=2, data_format="NCW")[0]
    if line is None:
        return x, wide
    return line * 2, padded + padded, wide


@program(*KEPT)
def what_follows_from_what_is_found_on_both_paths(x, m):
    y, parts = d2s.repeat_interleave(x[m], 2, 0), []
    if x.sum() > 0:
        if m.all():
            y = d2s.tile(x, [3, 1])
        y = y[::2]
        parts.append(y.reshape([-1]))
    else:
        y = d2s.concat([x[m], x[d2s.logical_not(m)]]).reshape([-1, 1])
    parts.append(y.flatten())
    return y * 2, parts


@program(*((x, m) for x, m in KEPT if m.any()))
def nothing_but_pairs_in_a_squeeze(x, m):
    return x[m].tile([2, 1]).squeeze(), x[m].tile([2, 1]).squeeze(0)


@program(*KEPT)
def windows_over_what_is_found(x, m):
    return d2s.nn.functional.avg_pool1d(x[m].t().unsqueeze(0), 1)


ROW = tuple((t(values),) for values in ([1.0, -2.0, 3.0], [2.0, 2.0, 2.0], [-1.0, -1.5, -1.0], [1.0, 0.0, 3.0, 4.5]))


@program(*ROW)
def numpys_places(x):
    n = x.numpy()
    flat, (i, j) = np.flatnonzero(n > 0), np.where(n[:, None] > n[None] + 1)
    matrix = x * x.reshape([-1, 1])
    return x[t(flat)] * 2, t(np.argwhere(n > 1)), t(flat) + t(np.nonzero(n > 0)[0]), matrix[t(i), t(j)].sum(), i.tolist()


@program(*ROW)
def numpys_masks(x):
    n = x.numpy()
    kept, firsts = n[n > 1], (n * np.ones([2, 1], "float32"))[:, n > 0]
    both = np.concatenate([kept, n[:1]])
    return t(kept), t(firsts).sum(0), t(both) * 2, t(np.compress(n > 0, n)), t(np.extract(n < 0, n)), t(kept[:, None] > both)


@program(*ROW)
def numpys_distinct_values(x):
    n = x.numpy()
    values, places, inverse, counts = np.unique(n, return_index=True, return_inverse=True, return_counts=True)
    others = t(np.setdiff1d(n, [2.0])), t(np.bincount(np.abs(n).astype(int))), t(np.trim_zeros(n))
    return t(values)[t(inverse)] + x, t(counts) * t(places), *others


@program(*ROW)
def numpys_arrays_as_long_as_numbers_say(x):
    n = x.numpy()
    most, at = int(np.abs(n).max()), np.argmax(n)
    made = t(np.zeros(most)), t(np.arange(most + 1)), t(np.linspace(0.0, 1.0, most)), t(np.arange(0.0, np.abs(n).max()))
    return *made, t(np.repeat(n, np.arange(len(n)))), t(np.delete(n, at)), t(np.delete(n, [0, 1])), t(np.eye(4)[at])


@program(*ROW)
def numpys_places_by_the_path(x):
    n = x.numpy()
    found = n[n > 1] if x.sum() > 0 else np.zeros(4, "float32")
    y = x[t(np.flatnonzero(n > 0))] if (n > 0).any() else x
    return t(found) * 2, y * y, y.sum() * x


@program(*ROW)
def numpys_places_in_a_loop(x):
    y, total = x, x.sum() * 0
    for k in range(t(3)):
        y = y[t(np.flatnonzero(y.numpy() > k))] * 1.5
        total = total + y.sum()
    return y, total


@program(*SETS)
def numpys_arrays_of_what_a_run_finds(x):
    y = x[x > 0]
    n = y.numpy() * 2
    return y + t(n), t(n.astype("int32")), len(n), t(n[:, None] * np.ones(2, "float32")), t(n.sum())


@program(*ROW)
def numpys_arrays_of_kept_numbers(x):
    return t(np.array([v for v in x.tolist() if v > 1], "float32")) * 2, t(np.array([float(v) for v in x], "float32"))


MASKED = tuple(
    (t([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), t(mask))
    for mask in ([True, False, True], [False] * 3, [True] * 3, [False, True, False])
)


@program(*MASKED)
def rows_become_one_number(x, m):
    y, z, k, b = x * 1, d2s.zeros([3, 2]), x.astype("int64"), x > 2
    y[m] = -1.0
    z[~m] = 1
    k[m] = 2.7
    b[x.sum(1) > 4] = False
    w = x * 1
    w[m] = y.sum()
    return y * x, z * x, k, b, w


@program(*MASKED)
def rows_become_others(x, m):
    y, z, w = x * 1, x * 1, x * 1
    y[m] = x[0] * 3
    z[m] = x[:1] * 2
    w[m] = x[m][:, :1]
    v = w * 1
    v[m] = x[1:2, 1:]
    v[m] *= 2
    v[m] += x[2]
    return y * x, z, w * y, v


@program(*MASKED)
def parts_of_rows_become_others(x, m):
    y, z = x * 1, (x * 1).t()
    y[m, 1:] = x[0, :1]
    y[m, :] = y[0] * x[1]
    y[m, 0] = 4.0
    y[m, 1] = x[0, :1]
    z[:, m] = x[:2, :1]
    z[..., m] = z[:, :1] + 1
    cube = x.reshape([3, 1, 2]) * d2s.ones([3, 2, 2])
    cube[m] = x[:2]
    cube[m, 1] = x[0]
    return y * x, z, cube


@program(*MASKED)
def as_many_rows_as_a_mask_holds(x, m):
    y = x * 1
    y[m] = x[:2] * 2
    return y * x


@program(*MASKED)
def rows_become_others_on_paths_and_trips(x, m):
    y = x * 1
    if x.sum() > 10 * m.astype("float32").sum():
        y[m] = 0.0
    else:
        y[m] = x[0]
    i = d2s.to_tensor(0)
    while i < 3:
        y[m] = y[0] * 2
        y[y[:, 0] > 8] = 1.0
        i += 1
    return y * x


@program(*MASKED)
def places_and_slices_become_others(x, m):
    y, n, at = x * 1, m.sum(), d2s.nonzero(m).flatten()
    y[:n] = x[0]
    y[n:] = x[:1] * 2
    z = x * 1
    z[at] = y[0]
    return y, z, d2s.index_put(x, (at,), x[0]), d2s.index_put(x, (at,), x[:1], accumulate=True)


@program(*MASKED)
def made_like_what_was_found(x, m):
    rows, part, n = x[m], x[: m.sum()], x * 1
    made = (
        d2s.zeros_like(rows),
        d2s.ones_like(part),
        d2s.full_like(rows, 2.5),
        d2s.empty_like(n),
        d2s.full_like(part, 3, "int64"),
    )
    return made, [y.stop_gradient for y in made], made[0] + rows, made[1] * part


@program(*MASKED, (t([[1.0, 2.0]] * 4), t([True] * 4)), (t([[1.0, 2.0]] * 5), t([False] * 5)))
def made_like_alone(x, m):
    return d2s.ones_like(x[m]).sum() + d2s.full_like(x, 2.0).sum()


BLOCKS = tuple(
    (X, t([[[float(9 * i + 3 * j + k) for k in range(4)] for j in range(3)] for i in range(3)]), t(n)) for n in (2, 3, 0, -1, 7)
)


@program(*BLOCKS)
def blocks_become_others(x, c, n):
    y, z = x * 1, c * 1
    y[:n, :n] = 0.0
    y[n::-1, ::-1] = x[0]
    y[n:, -n:] *= 2
    z[:n, :, :n] = c[:1, :1, :1]
    z[:n, 1:, 1:n] = x[1:2, 1:].unsqueeze(-1)
    z[::2, 1:, :n] = 9.0
    return y * x, z * c


@program(*BLOCKS)
def parts_of_one_row_become_others(x, c, n):
    y, z, i = x * 1, c * 1, n * 0 + 1
    y[:n, 1] = 4.0
    y[0, :n] = x[1, :n]
    z[1, :, :n] = 1.0
    z[:n, :, 1] = x[0] * 2
    z[n:, ..., i] = 3.0
    z[:n, i, :n] = x[0, 0]
    for k in range(int(n)):
        z[k, :k, k:] += 1
    return y * x, z * c


@program(*BLOCKS[:2])
def a_block_of_too_many_axes_or_beyond(x, c, n):
    y = x * 1
    if n > 2:
        y[:n, :n, :n] = 0.0
    y[:n, 5] = 0.0
    return y


@program(*ROW)
def numbers_that_a_loop_appends(x):
    order, kept = d2s.argsort(-x), []
    while order.shape[0] > 0:
        first = order[0]
        kept.append(int(first))
        order = order[1:][(x[order[1:]] - x[first]).abs() > 1.5]
    return x[t(kept)], t(kept, "int32") + 1, t(np.array(kept)), len(kept)


@program(*((t([1.0, 2.0, -3.0]), t(n)) for n in (3, 1, 2)))
def tensors_that_a_loop_appends(x, n):
    parts, rows = [], []
    for k in range(n):
        parts.append(x[k] * 2)
        rows.append(x * k)
    return t(parts) * x.sum(), t(rows, "float64")


ONE_OR_MORE = tuple(
    (X, t(kept)) for kept in ([True, False, True], [False, True, False], [False, True, True], [True] * 3, [False] * 3)
)


@program(*ONE_OR_MORE)
def one_row_that_a_run_finds_is_stored_in_many(x, mask):
    y = x * 1.0
    y[mask] = x[~mask] * 2.0
    return y * x


@program(*ONE_OR_MORE)
def one_found_row_of_the_same_mask(x, mask):
    y, z = x * 1.0, x * 2.0
    y[mask] = x[mask][:1]
    z[:] = x[mask]
    return y * x, z * x


@program(*ONE_OR_MORE)
def one_found_column(x, mask):
    y = x * 1.0
    y[x > 1] = x[mask][:, :1]
    return y * x


@program(*ONE_OR_MORE)
def one_found_row_without_its_axis(x, mask):
    y, z = x * 1.0, x * 2.0
    z[mask] = x[mask][:, 0]
    y[0] = x[mask]
    return y * x, z * x


@program(*ONE_OR_MORE)
def a_mask_of_one_row_beside_a_list(x, mask):
    y = x * 1.0
    y[mask, [0, 2]] = 0.0
    return y * x, x[mask, [0, 2]]


@program(*ONE_OR_MORE)
def one_found_row_is_stored_on_some_path(x, mask):
    y = x * 1.0
    for k in range(2):
        if x[mask].sum() > k:
            y[mask] = x[~mask]
    return y * x


@program(*SETS)
def numpys_array_is_changed_under_all_its_names(x):
    def bump(values):
        values += 10

    n = x.numpy()
    same, rows, turned, part = n, [n], n.T, n[1:]
    part += 1
    turned *= 2
    if x.sum() > 0:
        n -= 3
    bump(n)
    return d2s.to_tensor(same), d2s.to_tensor(rows[0]), d2s.to_tensor(part), d2s.to_tensor(np.eye(3, dtype="float32") @ n)


@program(*SETS)
def what_numpy_finds_wants_a_gradient(x):
    leaf, number = d2s.to_tensor(x.numpy(), stop_gradient=False), d2s.to_tensor(float(x.sum()), stop_gradient=False)
    (leaf * leaf * number).sum().backward()
    return leaf.grad, number.grad, leaf.stop_gradient, (number * 2).stop_gradient


@program(*SETS)
def numbers_that_numpy_finds_beside_others(x):
    n = x.numpy()
    largest = n.max() if x.sum() > 0 else 0.0
    mixed = d2s.to_tensor([n.max(), x.sum(), 2.5]), d2s.to_tensor([[n.max(), 1], [2, n.min()]])
    return d2s.to_tensor((len(n), n.size)), *mixed, d2s.to_tensor(largest), d2s.to_tensor(n if x.sum() > 0 else 1.5) * x


@program(*[(t([[1.0, 2.0, 3.0], [last, 5.0, 6.0]]),) for last in (4.0, -4.0, 2.0)])
def scores_of_found_rows_and_labels(x):
    rows, labels = x[x[:, 0] > 0.0], d2s.to_tensor([1, 0])
    smooth = d2s.nn.functional.cross_entropy(rows, labels, label_smoothing=0.5)
    return smooth, d2s.nn.functional.cross_entropy(rows, labels, weight=d2s.to_tensor([1.0, 2.0, 0.5]), reduction="sum")


@program(*SETS)
def compared_with_what_a_run_finds(x):
    y, z = x[x[:, 0] > 0], x[: int((x > 1).sum()) % 3]
    return d2s.equal_all(y, z), d2s.equal_all(y, x[d2s.nonzero(x[:, 0] > 0)[:, 0]]), d2s.equal_all(y, x)


@program(*SETS, (t([[9.0, 9.0, -9.0], [-1.0, 0.0, 0.0]]),))
def what_is_one_row_takes_one_row_in_place(x):
    y = x[:1] * 1.0
    return y.copy_(x[x[:, 0] > 0.75])


@program((t([[1.0, 2.0, 3.0]]),), (t([[-1.0, 2.0, 3.0]]),))
def what_a_run_finds_takes_one_row_in_place(x):
    y = x[x[:, 0] > 0] * 1.0
    y.set_value(x * 2)
    return y.detach()


@program((t([[1.0, 2.0, 3.0]]),), (t([[-1.0, 2.0, 3.0]]),))
def several_rows_that_a_run_finds_take_one_in_place(x):
    y = d2s.concat([x[x[:, 0] > 0], x]) * 1.0
    return y.copy_(x), x.sum()


@program(*COUNTS, (-X, t(2)))
def logarithms_of_sums_on_a_path(x, n):
    columns = x[:, : int(n)]
    if x.sum() > 0:
        return d2s.logsumexp(columns, 0)
    return columns


@program((X, t(0)), (X, t(3)), (X, t(1)))
def as_many_rows_as_a_run_finds_or_as_there_were(x, n):
    y = x[x[:, 0] > 0]
    return y.reshape([x[: int(n)].shape[0], -1])


NONE = (t([[-1.0, -2.0, -3.0]]),)


@program(*SETS, NONE)
def what_is_left_beside_rows_that_a_run_finds(x):
    y = x[x[:, 0] > 0]
    return y.reshape([y.shape[0], -1])


@program(*SETS, NONE)
def what_is_left_beside_twice_as_many(x):
    y = x[x > 0]
    return d2s.concat([y, y]).reshape([y.shape[0] * 2, -1])


@program(*SETS, NONE)
def means_of_parts_of_what_a_run_finds(x):
    y = x[x > 0].reshape([1, 1, -1])
    return d2s.nn.functional.adaptive_avg_pool1d(y, 2), d2s.nn.functional.adaptive_max_pool1d(y, 1)


@program(*SETS)
def no_rows_laid_out_anew(x):
    none, n = x[x[:, 0] > 99], int((x > 0).sum()) % 3
    columns = x[:, :n].unsqueeze(1)
    return d2s.tile(none, [1, n + 1]), d2s.flatten(columns[x[:, 0] > 99], 1, 2), x.reshape([none.shape[0], -1])


@program(*SETS)
def as_long_as_what_a_run_finds_in_a_grid(x):
    n = int((x > 0).sum()) % 3
    a, b = d2s.meshgrid(x[0, :1], x[n:, 0])
    a.sum().backward()
    (b * b).sum().backward()
    return x.grad


@program(*((t([[[0.5 * k - j for k in range(5)] for j in range(2)]] * n),) for n in (3, 1)))
def a_gradient_as_long_as_only_a_run_tells(x):
    part = x[:, :, : int((x > 0).sum()) % 4 + 1]
    kernel = d2s.to_tensor([[[1.0, 2.0], [0.5, -1.0]]] * 2)
    wide = d2s.nn.functional.pad(part, [1, 1], data_format="NCL")
    return d2s.nn.functional.conv1d(wide, kernel) if x.sum() > 0 else wide
