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
