"""Programs whose loops make lists longer and shorter: how many items there are, only a run tells."""

from programs_compare import program, t

import d2s

SETS = (t([1.0, 1.25]), t(3)), (t([0.5, -2.0]), t(1)), (t([3.0, 0.25]), t(5))


@program(*SETS, (t([1.0, 2.0]), t(0)))
def returned(x, n):
    out = []
    for i in range(n):
        x = x * 1.5 + i
        out.append(x)
    return out, len(out)


@program(*SETS, (t([1.0, 2.0]), t(0)))
def last_and_first(x, n):
    out = []
    while len(out) < n:
        x = x * x * 0.5
        out.append(x)
    return out[-1] + out[0] * 2


@program(*SETS)
def begun_before(x, n):
    """Every trip reads what trips before it have left: no contribution may come to an item that nobody reads."""
    out = [x * 1, d2s.log(x)]
    for _ in range(n):
        if out[-1].sum() > 6:
            out.append(out[-1] - x)
        else:
            out.append(out[0] * out[-2] + x)
    return out[-1], len(out)


@program((t([1.0, 1.25]), t(20.0)), (t([4.0, 1.0]), t(1.0)), (t([0.5, 0.5]), t(9.0)))
def depth_first(x, most):
    stack = [x * 1]
    total = x * 0
    while stack:
        top = stack.pop()
        total = total + top
        if total.sum() < most:
            stack.append(top * 0.5)
            stack.append(top * 1.25)
    return total


@program(*SETS)
def iterated(x, n):
    parts, total = [], x * 0
    for i in range(n):
        parts.append((x * i, i))
    for part, i in parts:
        total = total + part * i
        if total.sum() > 30:
            break
    for k, pair in enumerate(parts):
        total = total + pair[0] * k
    for one, (_, i) in zip([2.0, 3.0], parts, strict=False):
        total = total * one + i
    for part, _ in reversed(parts):
        total = total * part
    return total


@program(*SETS)
def changed_in_all_ways(x, n):
    xs, ys = [], [x * 1]
    while len(xs) < n + 2:
        xs.append(ys[-1] + 1.0)
        ys.append(xs[-1] * x)
    xs.extend(ys)
    xs += [x * 2]
    xs.reverse()
    xs.insert(1, x * 3)
    xs[0] = xs[0] * xs[2]
    xs[-1] = x * 5
    del xs[2]
    first, third, last = xs.pop(0), xs.pop(2), xs.pop()
    found = [sum(xs), *[part * 1 for part in xs[1:3]], xs[::-2][0] * 2, (xs + ys)[n] * 3, [x, *ys][-1] * 4]
    return found, len(xs * 2), first * third * last


@program(*SETS)
def asked(x, n):
    counts = []
    for i in range(n):
        counts.append(i * 2)
    if not counts:
        return x * 1, 0, False, 0, 0
    at = counts.index(0)
    return x * sum(counts), len(counts), 4 in counts, counts.count(2), at, bool(counts), isinstance(counts, list)


@program(*SETS)
def by_paths(x, n):
    """Which list it is that gets longer, the path decides."""
    kept, batch = [], []
    for i in range(n):
        batch.append(x * i)
        if len(batch) >= 2:
            kept.append(batch[0] + batch[1])
            batch.clear()
    if x.sum() > 2:
        chosen = []
        for _ in range(n):
            chosen.append(x * 2)
    else:
        chosen = [x * 3]
    chosen.append(x * 4)
    return kept, batch, chosen


@program(*SETS)
def joined_anew(x, n):
    out = []
    for i in range(n):
        out = [*out, x * i]
        out = out + (out[:1] * 2)
    return out[n - 1] * 1, out[len(out) - 1] * 3, [p * 2 for p in out]


@program(*SETS, (t([1.0, 2.0]), t(0)))
def begun_anew(x, n):
    """Batches of two; the last one may be shorter."""
    kept, batch = [], []
    for i in range(n):
        batch.append(x * i)
        if len(batch) == 2:
            kept.append(batch[0] + batch[1])
            batch = []
    return kept, batch


@program((t([0.0, 1.0, 2.0]), t(4), t(1)), (t([2.0, 0.5, 0.25]), t(2), t(2)))
def decoded_greedily(logits, steps, end):
    """Words until the end word, or for so many steps; scores beside them."""
    words, scores, state = [], [], logits
    while len(words) < steps:
        word = state.argmax()
        words.append(word)
        scores.append(d2s.max(d2s.nn.functional.softmax(state)))
        if word == end:
            break
        state = state * 0.75 + d2s.flip(state, 0)
    total = scores[0]
    for score in scores[1:]:
        total = total * score
    return words, total, len(words)


@program(*SETS)
def stacked(x, n):
    out = []
    for i in range(n):
        x = x * 1.5 + i
        out.append(x)
    flat = d2s.concat([part.reshape([1, 2]) for part in out], axis=1)
    return d2s.stack(out), d2s.stack(out, axis=1).sum(axis=1), d2s.concat(out) * 2, flat, out[0] * 3


@program((t([1.0, 2.0]), t(3)), (t([0.5, 0.25]), t(2)))
def searched_by_beams(x, steps):
    """Two beams: each step keeps the better two of four continuations, as lists of scores and of words."""
    scores, history = [x[0] * 1.0, x[1] * 1.0], []
    for i in range(steps):
        grown = []
        for score in scores:
            grown.append(score * 0.5 + i)
            grown.append(score * score * 0.25)
        best, place = d2s.topk(d2s.concat([g.reshape([1]) for g in (grown[0], grown[1], grown[2], grown[3])]), 2)
        scores = [best[0], best[1]]
        history.append(place)
    return scores, history


@program((t([1.0, 2.0]), [t(5.0)], t(3)), (t([1.0, 0.5]), [t(5.0), t(6.0)], t(1)))
def given(x, items, n):
    """A list of the caller's is the caller's list."""
    for _ in range(n):
        items.append(x.sum() * len(items))
    return items[-1] * x


@program((t([1.0, 2.0]), t(3), t(7)), (t([1.0, 2.0]), t(3), t(-4)), (t([1.0, 2.0]), t(3), t(-3)), (t([1.0, 2.0]), t(0), t(0)))
def bad_index(x, n, k):
    out = []
    for i in range(n):
        out.append(x + i)
    return out[k]


@program((t([1.0, 2.0]), t(2)), (t([1.0, 2.0]), t(0)))
def caught(x, n):
    out = []
    for _ in range(n):
        out.append(x * 2)
    try:
        y = out.pop()
    except IndexError:
        y = x * 9
    return y, len(out)


@program((t([1.0, 2.0]), t(3)), (t([1.0, -2.0]), t(2)))
def nested_loops(x, n):
    rows = []
    for i in range(n):
        row = []
        for j in range(i + 1):
            row.append(x * j)
        total = x * 1
        for part in row:
            if part.sum() < 0:
                continue
            total = total + part
        rows.append(total)
    return rows


@program(*((t([1.0, 2.0]), t(n)) for n in (0, 1, 3)))
def returned_beside_another_list(x, n):
    grown = []
    for i in range(n):
        grown.append(i * 2)
    if len(grown) > 2 and grown[1] == 2:
        return sum(grown), x * 1
    if not grown:
        return [x * 1]
    first, *rest = [grown[0], 1, 2]
    return first, rest, grown


@program((t([1.0, 2.0]), t(3)), (t([1.0, -2.0]), t(2)), (t([1.0, -2.0]), t(0)))
def replaced_on_a_path(x, n):
    """A list that is another one by the path, whose content is told apart by its length as well."""
    parts = [x * 1, x * 2]
    for _ in range(n):
        x = x * 0.5 - 0.75
        if x.sum() > 0:
            parts = [x * 3]
        parts = parts + [x * 1]  # noqa: RUF005 - an addition is what is meant
        if len(parts) > 1:
            parts.pop()
    return parts, len(parts)


@program(*((t([[1.0, 2.0]] * rows), t(n)) for rows in (2, 4, 3) for n in (2, 3)))
def of_what_follows_from_an_extent(x, n):
    flat, wide = [], []
    for i in range(n):
        flat.append(x.flatten() * i)
        wide.append(d2s.nn.functional.pad(x, [1, 1, 0, 0]) + i)
    return flat, wide
