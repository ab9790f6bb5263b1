def logic(x, y):
    return _d2s.if_exp(_d2s.both(lambda : _d2s.binary(_d2s.call(_d2s.
        attribute(x, 'sum'))(), '>', 0), lambda : _d2s.not_(_d2s.binary(
        _d2s.call(_d2s.attribute(y, 'sum'))(), '>', 0))), lambda : x, lambda :
        _d2s.binary(y, '*', 2))
