def loop(x, n):
    i = 0

    def test_32():
        return _d2s.binary(i, '<', n)

    def body_32():
        nonlocal x, i
        x = _d2s.binary(_d2s.binary(x, '*', 0.5), '+', 1)
        i = _d2s.changed(i, 1, '+')

    def get_32():
        return x, i

    def set_32(values):
        nonlocal x, i
        x, i = values
    _d2s.while_loop(test_32, body_32, get_32, set_32, ('x', 'i'), False, False)
    return _d2s.call(_d2s.attribute(x, 'sum'))(), i
