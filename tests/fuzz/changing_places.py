"""What a function may read that lies about: the lines that make it, expressions that read it, statements that change it."""

import textwrap
from typing import NamedTuple


class Place(NamedTuple):
    made: str
    reads: tuple[str, ...]
    changes: tuple[str, ...]


def place(made: str, reads: str, changes: str) -> Place:
    return Place(
        textwrap.dedent(made).strip("\n"), *(tuple(map(str.strip, part.strip().splitlines())) for part in (reads, changes))
    )


PLACES = {
    "number": place(
        """
        N = 2.0
        """,
        """
        N
        N + 1
        """,
        """
        N = 3.0
        N = 3
        N = True
        N = -0.0
        N = 2.0
        N = d2s.to_tensor(1.5)
        N = float('nan')
        N = np.float32(2.0)
        """,
    ),
    "flag": place(
        """
        FLAG = True
        """,
        """
        (1.0 if FLAG else 2.0)
        (FLAG is None)
        (FLAG == 1)
        """,
        """
        FLAG = False
        FLAG = None
        FLAG = 1
        FLAG = []
        FLAG = [0]
        FLAG = True
        """,
    ),
    "word": place(
        """
        MODE = 'sum'
        """,
        """
        (3.0 if MODE == 'sum' else 4.0)
        len(MODE)
        float(MODE.startswith('s'))
        {'sum': 1.0, 'mean': 2.0}.get(MODE, 5.0)
        """,
        """
        MODE = 'mean'
        MODE = 'sun'
        MODE = 'sum'
        MODE = ''
        """,
    ),
    "list": place(
        """
        L = [1.0, 2.0, 3.0]
        """,
        """
        L[0]
        L[-1]
        len(L)
        sum(L)
        max(L)
        (2.0 in L)
        sum(v for v in L)
        L[1:][0]
        (1.5 if L else 0.5)
        sorted(L)[0]
        list(reversed(L))[0]
        L.index(2.0)
        L.count(2.0)
        [*L, 1.0][0]
        """,
        """
        L.append(4.0)
        L[0] = 9.0
        L.pop()
        L.reverse()
        L.clear()
        L = [2.0]
        L[:] = [5.0, 2.0]
        L.extend([1, 2])
        L[-1] = 7
        L = (2.0, 3.0)
        L.insert(0, 2.0)
        L = [1.0, 2.0, 3.0]
        L.sort()
        L *= 2
        """,
    ),
    "dict": place(
        """
        D = {'a': 1.0, 'b': 2.0}
        """,
        """
        D['a']
        len(D)
        D.get('c', 5.0)
        ('b' in D)
        sum(D.values())
        len(list(D))
        [v for k, v in D.items()][0]
        {**D, 'z': 1.0}.get('a', 3.0)
        sum(len(k) for k in D)
        """,
        """
        D['a'] = 3.0
        D['c'] = 4.0
        D.pop('b', None)
        D.update(a=7.0)
        D = {'a': 2.0}
        del D['a']
        D.clear()
        D.setdefault('a', 8.0)
        D = {'b': 2.0, 'a': 1.0}
        D['ccc'] = 1
        """,
    ),
    "nested": place(
        """
        T = {'l': [1.0, {'k': 2.0}], 't': (3.0, [4.0])}
        """,
        """
        T['l'][0]
        T['l'][1]['k']
        T['t'][1][0]
        len(T['l'])
        len(T['t'][1])
        """,
        """
        T['l'][0] = 5.0
        T['l'][1]['k'] = 6.0
        T['t'][1][0] = 7.0
        T['l'].append(1.0)
        T['t'][1].append(1.0)
        T['l'][1] = {'k': 9.0}
        T = {'l': [0.5, {'k': 0.25}], 't': (1.0, [2.0])}
        """,
    ),
    "set": place(
        """
        S = {1, 2}
        """,
        """
        (1 in S)
        len(S)
        float(sum(S))
        """,
        """
        S.add(3)
        S.discard(1)
        S = {2}
        S.clear()
        S.add(1)
        """,
    ),
    "function": place(
        """
        def g(a=1.0, *, b=2.0):
            return a + b
        def outer(k):
            def inner():
                return k[0] * k2
            k2 = k[0] + 1
            return inner
        CELL = [1.5]
        h = outer(CELL)
        lam = lambda: N2
        N2 = 1.25
        part = functools.partial(g, 3.0)
        """,
        """
        g()
        g(b=3.0)
        g(4.0)
        h()
        lam()
        part()
        part(b=1.0)
        g.__defaults__[0]
        h.__closure__[0].cell_contents[0]
        g.__name__ == 'g'
        """,
        """
        g.__defaults__ = (5.0,)
        g.__kwdefaults__ = {'b': 6.0}
        CELL[0] = 2.5
        h = outer([3.0])
        N2 = 7.0
        g = lambda a=1.0, b=2.0: a * b
        g.__code__ = (lambda a=1.0, *, b=2.0: a - b).__code__
        part = functools.partial(g, 2.0)
        lam = lambda: 3.0
        h.__closure__[0].cell_contents = [4.0]
        g.__name__ = 'q'
        N2 = 1.25
        """,
    ),
    "module": place(
        """
        M = types.ModuleType('m')
        M.v = 2.0
        M.sub = types.ModuleType('m.sub')
        M.sub.w = 3.0
        exec('def fn(): return v * 2.0', M.__dict__)
        """,
        """
        M.v
        M.sub.w
        M.fn()
        getattr(M, 'zz', 1.0)
        float(hasattr(M, 'zz'))
        """,
        """
        M.v = 4.0
        M.sub.w = 5.0
        M.sub = types.SimpleNamespace(w=6.0)
        M.fn = lambda: 7.0
        M.zz = 2.0
        M = types.SimpleNamespace(v=1.0, sub=types.SimpleNamespace(w=2.0), fn=lambda: 3.0)
        M.v = 2.0
        """,
    ),
    "decorated": place(
        """
        def deco(k):
            def wrap(fn):
                @functools.wraps(fn)
                def inner(*a):
                    return fn(*a) * k[0]
                return inner
            return wrap
        KK = [2.0]
        @deco(KK)
        def wr(a=1.0):
            return a + WK
        WK = 1.0
        @functools.lru_cache(None)
        def cached(a):
            return a * 2.0
        @functools.singledispatch
        def sd(v):
            return 1.0
        @sd.register(int)
        def _(v):
            return 2.0
        """,
        """
        wr()
        wr(2.0)
        cached(2.0)
        sd(1)
        sd(1.0)
        wr.__wrapped__()
        """,
        """
        KK[0] = 3.0
        WK = 5.0
        wr.__wrapped__.__defaults__ = (4.0,)
        wr = deco([1.0])(lambda a=2.0: a)
        cached = lambda a: a * 3.0
        sd.register(float, lambda v: 7.0)
        KK = [9.0]
        wr.__closure__[0].cell_contents = lambda *a: 11.0
        """,
    ),
}
