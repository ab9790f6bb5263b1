"""What prints tensors that depend on a weight shows whether they want a gradient, as they do where it is printed."""

from effects import row

import d2s


def of_weights(body):
    """A row of what prints tensors that depend on a weight, before and behind steps that use up their histories."""

    def made():
        w = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
        sgd = d2s.optimizer.SGD(0.1, parameters=[w])
        return lambda x: body(x, w, sgd), lambda: w

    made.__name__ = body.__name__
    return row()(made)


@of_weights
def prints_losses(x, w, sgd):
    loss = (x * w).sum()
    print("loss", loss)
    loss.backward()
    print(loss, w.grad, f"{loss}")


@of_weights
def prints_before_a_gradient(x, w, sgd):
    print(w * 2, str(x * w), x)
    return d2s.grad((x * w).sum(), w)


@of_weights
def prints_behind_a_step(x, w, sgd):
    for k in range(2):
        loss = (x * w).sum()
        print(k, loss)
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        print(w, w * 2, (x * w).sum(), x)


@of_weights
def prints_other_values(x, w, sgd):
    w.set_value(w * 2)
    print(w, w * 3)
    with d2s.no_grad():
        w.add_(x)
        print(w, w * 2)
    print(w, w + 1)
    return x * 1


@of_weights
def prints_leaves_made_here(x, w, sgd):
    y = (x * w).detach()
    print(y)
    y.stop_gradient = False
    print(y, [y * 2])
    (y * 3).sum().backward()
    print({"grad": y.grad}, y)


@of_weights
def prints_what_is_kept(x, w, sgd):
    loss = (x * w).sum()
    loss.backward(retain_graph=True)
    print(loss)
    loss.backward()
    print(loss, w.grad)
    return loss.detach()


@row()
def prints_parameters():
    net = d2s.nn.Linear(2, 1, weight_attr=d2s.nn.initializer.Constant(0.5))
    sgd = d2s.optimizer.SGD(0.1, parameters=net.parameters())

    def f(x):
        print(net.weight)
        net(x.detach()).sum().backward()
        sgd.step()
        sgd.clear_grad()
        print(net.weight, [net.bias], f"{net.bias}")
        net.weight.set_value(net.weight * 0.5)
        net.weight.stop_gradient = True
        print(net.weight, x)
        net.weight.stop_gradient = False
        return x.detach()

    return f, lambda: net.parameters()


@of_weights
def prints_by_path(x, w, sgd):
    h = d2s.zeros([2])
    print(h)
    if x.sum() > 0:
        h = h * w
        print("in", h)
    print(h, f"{h * 2}", h.detach())
    with d2s.no_grad():
        print(h * 3)
    return h


@of_weights
def prints_each_state(x, w, sgd):
    h, before, i = d2s.zeros([2]), d2s.ones([2]), 0
    while i < x.abs().sum() * 2:
        print(f"{h}", str(before))
        h, before = d2s.tanh(h * x + w), h
        i += 1
    return before


@of_weights
def prints_until_it_breaks(x, w, sgd):
    h = d2s.zeros([2])
    for i in d2s.arange(4, dtype="float32"):
        if i > x[1]:
            break
        if i == 1:
            h = h + w
            print("now", h)
        print(i, h)
    return h.sum()


@of_weights
def prints_from_a_list(x, w, sgd):
    states, i = [d2s.zeros([2])], d2s.to_tensor(0.0)
    while i < x[1]:
        print(states[-1], states[0])
        states.append(states[-1] * x + w)
        i = i + 1
    print(states[0], states[-1])
    return states[-1]


@of_weights
def prints_in_a_test(x, w, sgd):
    def goes_on(h):
        print("so far", h)
        return h.sum() < 5

    h, i = d2s.zeros([2]), d2s.to_tensor(0.0)
    while goes_on(h) and i < x.abs().sum():
        h = h + w * 0.5
        i = i + 1
    return h


@of_weights
def prints_what_is_detached(x, w, sgd):
    h, i = w * 2, d2s.to_tensor(0.0)
    while i < x[1]:
        h = h.detach() + 1
        i = i + 1
    print(h)
    return h * x


@of_weights
def prints_as_it_calls_itself(x, w, sgd):
    def down(h, n):
        print(h)
        return down(d2s.tanh(h * w), n - 1) if n > 0 else h

    return down(d2s.zeros([2]), x[1] * 2)


@of_weights
def prints_what_it_raises(x, w, sgd):
    h = d2s.zeros([2])
    if x[1] > 1:
        h = h * w
    try:
        print(h)
        if x[0] < 0:
            raise ValueError(h)
    except ValueError as error:
        print("got", error.args[0])
    return h
