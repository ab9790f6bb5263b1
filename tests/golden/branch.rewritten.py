def branch(x, w):
    y = _d2s.Undefined('y')

    def then_17():
        nonlocal y
        y = _d2s.binary(x, '@', w)

    def otherwise_17():
        nonlocal y
        y = _d2s.binary(_d2s.call(_d2s.attribute(d2s, 'relu'))(_d2s.binary(
            x, '@', w)), '-', 1)

    def get_17():
        return y,

    def set_17(values):
        nonlocal y
        y, = values
    _d2s.if_else(_d2s.binary(_d2s.call(_d2s.attribute(x, 'sum'))(), '>', 0),
        then_17, otherwise_17, get_17, set_17, ('y',))
    return _d2s.call(_d2s.attribute(y, 'sum'))()
