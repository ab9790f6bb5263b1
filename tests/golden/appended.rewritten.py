def appended(x, n):
    out = _d2s.made([])

    def body_61(item):
        nonlocal x
        i = item
        x = _d2s.binary(_d2s.binary(x, '*', 0.5), '+', i)
        _d2s.call(_d2s.attribute(out, 'append'))(x)

    def get_61():
        return x,

    def set_61(values):
        nonlocal x
        x, = values
    _d2s.for_loop(_d2s.call(range)(n), body_61, None, get_61, set_61, ('x',))
    return _d2s.call(_d2s.attribute(_d2s.call(_d2s.attribute(d2s, 'stack'))
        (out), 'sum'))(), _d2s.item(out, -1)
