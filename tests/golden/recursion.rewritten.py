def recursion(x, w, n):
    ret = _d2s.Undefined('ret')

    def then_54():
        nonlocal ret
        ret = _d2s.binary(_d2s.call(recursion)(_d2s.call(_d2s.attribute(d2s,
            'tanh'))(_d2s.binary(x, '@', w)), w, _d2s.binary(n, '-', 1)),
            '*', _d2s.call(_d2s.attribute(x, 'sum'))())

    def otherwise_54():
        nonlocal ret
        ret = _d2s.call(_d2s.attribute(x, 'sum'))()

    def get_54():
        return ret,

    def set_54(values):
        nonlocal ret
        ret, = values
    _d2s.if_else(_d2s.binary(n, '>', 0), then_54, otherwise_54, get_54,
        set_54, ('ret',))
    return ret
