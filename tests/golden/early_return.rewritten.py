def early_return(x):
    ret = _d2s.Undefined('ret')

    def then_25():
        nonlocal ret
        ret = _d2s.call(_d2s.attribute(_d2s.binary(x, '*', x), 'sum'))()

    def otherwise_25():
        nonlocal ret
        ret = _d2s.call(_d2s.attribute(x, 'sum'))()

    def get_25():
        return ret,

    def set_25(values):
        nonlocal ret
        ret, = values
    _d2s.if_else(_d2s.binary(_d2s.call(_d2s.attribute(x, 'sum'))(), '>', 3),
        then_25, otherwise_25, get_25, set_25, ('ret',))
    return ret
