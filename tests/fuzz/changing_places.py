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
    "object": place(
        """
        class Thing:
            k = 1.0
            items = [1.0]
            def __init__(self):
                self.v = 2.0
                self.inner = None
            def m(self):
                return self.v * self.k
            @property
            def p(self):
                return self.v + self.k
            @staticmethod
            def st():
                return 4.0
            @classmethod
            def cm(cls):
                return cls.k
            def __len__(self):
                return int(self.v)
        class Child(Thing):
            def m(self):
                return super().m() + 1.0
        O = Thing()
        C = Child()
        """,
        """
        O.v
        O.k
        O.m()
        O.p
        O.st()
        O.cm()
        C.m()
        C.k
        C.v
        getattr(O, 'extra', 5.0)
        float(hasattr(O, 'extra'))
        float(isinstance(C, Thing))
        O.items[0]
        len(O)
        Thing.k
        type(O).k
        (1.0 if O.inner is None else O.inner.v)
        (1.0 if O else 2.0)
        vars(O)['v']
        O.__dict__.get('extra', 3.0)
        O.__class__.k
        """,
        """
        O.v = 3.0
        O.v = 3
        O.k = 4.0
        Thing.k = 5.0
        Child.k = 6.0
        C.v = 7.0
        O = Child()
        O = Thing()
        C = Thing()
        O.extra = 1.0
        Thing.extra = 2.0
        Thing.m = lambda self: 8.0
        O.m = lambda: 9.0
        Thing.p = property(lambda self: 3.5)
        Thing.items.append(2.0)
        O.items = [6.0]
        O.inner = C
        C.__class__ = Thing
        Thing.items[0] = 4.5
        Thing.st = staticmethod(lambda: 2.25)
        O.v = 0.5
        O.__dict__['v'] = 6.5
        del O.v
        Thing.__len__ = lambda self: 3
        Thing.v = property(lambda self: 11.0)
        Thing.__getattr__ = lambda self, name: 12.0
        Thing.__bool__ = lambda self: False
        """,
    ),
    "slots": place(
        """
        class Slotted:
            __slots__ = ("v",)
            def __init__(self):
                self.v = 2.0
        SL = Slotted()
        """,
        """
        SL.v
        """,
        """
        SL.v = 3.0
        SL = Slotted()
        SL.v = 4
        del SL.v
        """,
    ),
    "data": place(
        """
        @dataclasses.dataclass
        class Config:
            rate: float = 0.5
            layers: list = dataclasses.field(default_factory=lambda: [1.0, 2.0])
        CFG = Config()
        """,
        """
        CFG.rate
        sum(CFG.layers)
        len(CFG.layers)
        float(CFG == Config())
        Config().rate
        dataclasses.asdict(CFG)['rate']
        dataclasses.replace(CFG, rate=2.0).rate
        """,
        """
        CFG.rate = 1.5
        CFG.layers.append(3.0)
        CFG = Config(rate=2.5)
        CFG.layers[0] = 8.0
        Config.rate = 7.0
        CFG.layers = [1.0]
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
    "layer": place(
        """
        class Net(d2s.nn.Layer):
            def __init__(self):
                super().__init__()
                self.fc = d2s.nn.Linear(4, 4, weight_attr=d2s.nn.initializer.Constant(0.5))
                self.drop = d2s.nn.Dropout(0.0)
                self.register_buffer('buf', d2s.to_tensor(1.0))
                self.parts = d2s.nn.LayerList([d2s.nn.ReLU(), d2s.nn.Tanh()])
                self.scale = 1.0
            def forward(self, x):
                for part in self.parts:
                    x = part(x)
                x = self.drop(self.fc(x)) * self.scale + self.buf
                return x if self.training else x - 1.0
        NET = Net()
        """,
        """
        NET(x)
        NET.fc(x)
        NET.scale
        float(NET.training)
        len(NET.parts)
        NET.fc.weight.sum()
        NET.buf
        NET.fc.weight.shape[0]
        len(NET.parameters())
        len(list(NET.named_sublayers()))
        len(NET.state_dict())
        float(NET.fc.weight.stop_gradient)
        NET.parts[-1](x)
        NET.drop.p
        """,
        """
        NET.eval()
        NET.train()
        NET.scale = 2.0
        NET.parts.append(d2s.nn.Sigmoid())
        NET.parts[0] = d2s.nn.Sigmoid()
        NET.fc = d2s.nn.Linear(4, 4, weight_attr=d2s.nn.initializer.Constant(0.25))
        NET.buf = d2s.to_tensor(2.0)
        NET.buf.set_value(d2s.to_tensor(3.0))
        NET.fc.weight.set_value(d2s.full([4, 4], 0.75))
        NET.fc.weight.stop_gradient = True
        NET.fc.weight.stop_gradient = False
        NET = Net()
        NET.fc.register_forward_post_hook(lambda layer, given, made: made * 2)
        NET.register_forward_pre_hook(lambda layer, given: (given[0] + 1,))
        Net.forward = lambda self, x: self.fc(x)
        NET.fc.bias = None
        NET.fc.weight.fill_(0.125)
        NET.fc.forward = lambda x: x
        NET.parts.insert(0, d2s.nn.ReLU())
        NET.drop.eval()
        NET.add_sublayer('more', d2s.nn.Linear(1, 1))
        NET.buf = None
        NET.fc.extra = 1
        """,
    ),
    "tensor": place(
        """
        W = d2s.to_tensor([1.0, 2.0, 3.0, 4.0])
        W2 = d2s.to_tensor([0.5], stop_gradient=False)
        """,
        """
        W
        W.sum()
        W[0]
        W.shape[0]
        float(W.stop_gradient)
        W2
        (W * W2).sum()
        float(W2.grad is None)
        len(W)
        float(W is W2)
        W.dtype == 'float32'
        W.ndim
        """,
        """
        W = W + 1
        W[0] = 9.0
        W.add_(d2s.ones([4]))
        W = W.astype('float64')
        W = d2s.ones([1])
        W.stop_gradient = False
        W2.set_value(np.float32([0.25]))
        W2 = d2s.to_tensor([0.75])
        W = W2
        (W2 * 1).sum().backward()
        W2.stop_gradient = True
        W2.clear_gradient()
        W = 2.5
        W = d2s.to_tensor([1.0, 2.0, 3.0, 4.0])
        """,
    ),
    "array": place(
        """
        A = np.array([1.0, 2.0])
        """,
        """
        float(A[0])
        A.shape[0]
        d2s.to_tensor(A).sum().astype('float32')
        float(A.sum())
        len(A)
        """,
        """
        A[0] = 5.0
        A = np.ones(3)
        A *= 2
        A = np.array([1.0, 2.0])
        A = A.astype('float32')
        """,
    ),
    "switches": place(
        "",
        """
        d2s.ones([1]) * (1.0 if d2s.is_grad_enabled() else 2.0)
        (1.0 if d2s.get_default_dtype() == 'float32' else 2.0)
        d2s.ones([]).sum().astype('float32')
        abs(-1.0)
        len([1])
        """,
        """
        d2s.set_default_dtype('float64')
        d2s.set_default_dtype('float32')
        abs = lambda v: 5.0
        len = lambda v: 7
        del abs
        """,
    ),
    "enum": place(
        """
        class Kind(enum.Enum):
            A = 1
            B = 2
        KD = Kind.A
        NT = collections.namedtuple('NT', 'u v')(1.0, 2.0)
        DQ = collections.deque([1.0, 2.0])
        DD = collections.defaultdict(float, a=1.0)
        OD = collections.OrderedDict(a=1.0)
        """,
        """
        (1.0 if KD is Kind.A else 2.0)
        float(KD.value)
        NT.u
        NT[1]
        sum(NT)
        DQ[0]
        len(DQ)
        DD['a']
        len(DD)
        OD['a']
        float(KD.name == 'A')
        (1.0 if KD == Kind.B else 3.0)
        """,
        """
        KD = Kind.B
        NT = NT._replace(u=5.0)
        DQ.append(3.0)
        DQ.popleft()
        DQ.rotate()
        DD['a'] = 4.0
        DD['q'] = 1.0
        OD['a'] = 6.0
        OD.move_to_end('a')
        KD = 1
        DD = {'a': 2.0}
        """,
    ),
}
