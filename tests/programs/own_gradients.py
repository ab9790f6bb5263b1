"""Functions with gradients that the user wrote: `PyLayer`s in captured functions."""

from programs_compare import program, t

import d2s

X, Y = t([1.0, -2.0, 3.0]), t([5.0, 3.0, 3.0])
SETS = (X,), (Y,)


class Twice(d2s.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g * x


class Clip(d2s.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, lo, w):
        ctx.save_for_backward(x, w)
        ctx.lo = lo
        return x.clip(lo, 1.0) * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensor()
        return g * ((x > ctx.lo).astype("float32") + 0.1) * w, (g * x).sum()


class Ste(d2s.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return d2s.round(x)

    @staticmethod
    def backward(ctx, g):
        return g


class Branchy(d2s.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        if x.sum() > 5:
            return x * 2
        return x * 3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        if x.sum() > 5:
            return g * 5
        return g * 7


class NoGrad(d2s.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g, None


class Mark(d2s.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        i = x * 3
        ctx.mark_non_differentiable(i)
        return x * 2, i

    @staticmethod
    def backward(ctx, g, h):
        return g * 4 + h


@program(*SETS)
def twice(x):
    return Twice.apply(x) * 3


@program(*SETS)
def twice2(x):
    return Twice.apply(Twice.apply(x * 2)) + x


@program(*SETS)
def ste(x):
    return (Ste.apply(x * 1.3) * x).sum()


@program(*SETS)
def branchy(x):
    return Branchy.apply(x)


@program(*SETS)
def in_if(x):
    if x.sum() > 5:
        x = Twice.apply(x)
    return x * 2


@program(*SETS)
def in_while(x):
    while x.abs().sum() < 50:
        x = Twice.apply(x) + 1
    return x


@program(*SETS)
def nones(x):
    return NoGrad.apply(x, x * 2)


@program((t([1.0, -2.0, 3.0]), t(2.0)), (t([0.5, -2.0, 0.3]), t(-1.0)))
def clip(x, w):
    return Clip.apply(x, -0.2, w)


@program(*SETS)
def ng(x):
    with d2s.no_grad():
        y = Twice.apply(x)
    return y * x


@program(*SETS)
def mark(x):
    a, b = Mark.apply(x)
    return a * b
