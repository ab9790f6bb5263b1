"""Programs that ask tensors where and how they lie, and that make tensors of tensors."""

import copy

from programs_compare import program, t

import d2s

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),)
BATCHES = tuple((t([[1.0, 2.0, 3.0]] * n),) for n in (2, 4, 5))


@program(*BATCHES)
def how_it_lies(x):
    y = x * 2
    sizes = x.element_size(), x.itemsize, x.nbytes, (y > 1).nbytes
    return y, sizes, x.dim(), x.ndimension(), x.strides, y.get_strides()


@program(*SETS)
def where_it_lies(x):
    if x.place.is_gpu_place() or x.place != d2s.CPUPlace():
        x = x * 3
    print(x.place)
    return x.cpu() * 2, str(x.place), repr(x.place), x.detach().cpu().tolist()


@program(*SETS)
def moved_to_where_nothing_is(x):
    try:
        return x.cuda()
    except ValueError as error:
        return str(error)


@program(*SETS)
def data_is_without_history(x):
    y = x * 2
    return y.data * y, y.data.stop_gradient


@program(*SETS)
def copies_of_tensors(x):
    y, z = copy.copy(x), copy.copy((x * 2).detach())
    z.add_(x.detach())
    listed = copy.copy([x, {"a": y}])
    return y * 2, y is x, y.stop_gradient, z, listed


@program(*SETS)
def tensors_of_tensors(x):
    y, z = d2s.to_tensor(x), d2s.to_tensor(x * 2, "float64")
    wanting = d2s.to_tensor(x * 2, None, "cpu", False)
    return y * 3, y.stop_gradient, z, wanting * 2, d2s.to_tensor(x, dtype="int64"), x * d2s.to_tensor(2.0, place=x.place)


@program(*SETS)
def a_leaf_made_inside_is_not_changed_in_place(x):
    y = copy.deepcopy(x)
    y.add_(x.detach())
    return y * 2


@program(*SETS)
def what_is_said_of_a_leaf_made_inside(x):
    y = copy.deepcopy(x)
    try:
        y.add_(1.0)
    except Exception as error:
        return str(error).splitlines()[0], y * 2
    return "", y


@program(*SETS)
def what_only_a_capture_has_is_no_attribute(x):
    y = x * 2
    try:
        found = y.recorder
    except AttributeError as error:
        found = str(error)
    return y.value() + x.value(), y.value() is y, found, hasattr(y, "recorder")
