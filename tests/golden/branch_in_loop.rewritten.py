def branch_in_loop(x, w, n):
    i = _d2s.call(_d2s.attribute(d2s, 'to_tensor'))(0)
    h = x

    def test_41():
        return _d2s.binary(i, '<', n)

    def body_41():
        nonlocal h, i
        h = _d2s.call(_d2s.attribute(d2s, 'tanh'))(_d2s.binary(h, '@', w))

        def then_43():
            nonlocal h
            h = _d2s.binary(h, '*', h)

        def otherwise_43():
            pass

        def get_43():
            return h,

        def set_43(values):
            nonlocal h
            h, = values
        _d2s.if_else(_d2s.binary(_d2s.call(_d2s.attribute(h, 'sum'))(), '>',
            0), then_43, otherwise_43, get_43, set_43, ('h',))
        i = _d2s.binary(i, '+', 1)

    def get_41():
        return h, i

    def set_41(values):
        nonlocal h, i
        h, i = values
    _d2s.while_loop(test_41, body_41, get_41, set_41, ('h', 'i'), False, False)
    return _d2s.call(_d2s.attribute(_d2s.binary(h, '*', x), 'sum'))()
