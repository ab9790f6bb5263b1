"""Objects, their classes and structures of them that a function may read: see `changing_places`."""

from changing_places import place

PLACES = {
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
    "descriptor": place(
        """
        class Desc:
            def __init__(self, v):
                self.v = v
            def __get__(self, obj, cls):
                return self.v
        class Holder:
            d = Desc(2.0)
            table = {'a': 1.0}
            class In:
                z = 3.0
            def __init__(self):
                self._p = 1.0
            @property
            def p(self):
                return self._p
            @p.setter
            def p(self, v):
                self._p = v
            @functools.cached_property
            def cp(self):
                return self._p * 2
            def __call__(self, v=1.0):
                return v * self._p
            def __getitem__(self, k):
                return self._p + k
            def __contains__(self, k):
                return k == self._p
            def __iter__(self):
                yield self._p
        H = Holder()
        """,
        """
        H.d
        H.p
        H.cp
        H()
        H(2.0)
        H[1]
        (1.0 in H)
        Holder.In.z
        H.table['a']
        [v for v in H][0]
        H.In.z
        """,
        """
        Holder.d = Desc(4.0)
        Holder.__dict__['d'].v = 5.0
        H.p = 3.0
        H._p = 6.0
        H.__dict__.pop('cp', None)
        H.cp = 9.0
        Holder.In.z = 7.0
        Holder.table['a'] = 8.0
        Holder.__call__ = lambda self, v=1.0: 10.0
        H = Holder()
        Holder.In = types.SimpleNamespace(z=1.0)
        Holder.__getitem__ = lambda self, k: 2.0
        """,
    ),
    "structures": place(
        """
        class Node:
            def __init__(self, v, nxt=None):
                self.v, self.nxt = v, nxt
        LST = Node(1.0, Node(2.0, Node(3.0)))
        def total():
            s, n = 0.0, LST
            while n is not None:
                s, n = s + n.v, n.nxt
            return s
        TREE = {'l': {'v': 1.0, 'c': []}, 'c': [{'v': 2.0, 'c': []}]}
        def walk(t):
            return t['v'] + sum(walk(c) for c in t['c'])
        OBJS = [Node(float(i)) for i in range(3)]
        REG = {}
        def reg(fn):
            REG[fn.__name__] = fn
            return fn
        @reg
        def ra(v): return v + 1
        @reg
        def rb(v): return v * 2
        """,
        """
        total()
        walk(TREE['c'][0])
        walk(TREE['l'])
        sum(o.v for o in OBJS)
        [o.v for o in OBJS if o.nxt is None][0]
        REG['ra'](x)
        max(OBJS, key=lambda o: o.v).v
        sorted(OBJS, key=lambda o: -o.v)[0].v
        {o.v: o for o in OBJS}[1.0].v
        sum(fn(x) for fn in REG.values())
        any(o.v > 1 for o in OBJS)
        [a + b for a, b in zip([1.0, 2.0], (o.v for o in OBJS))][1]
        dict(zip('ab', OBJS))['a'].v
        list(map(lambda o: o.v, OBJS))[-1]
        len([o for o in OBJS if o.v])
        getattr(OBJS[0], 'v')
        """,
        """
        LST.nxt.v = 9.0
        LST.nxt.nxt = None
        LST = Node(4.0)
        TREE['c'][0]['v'] = 5.0
        TREE['c'][0]['c'].append({'v': 1.0, 'c': []})
        TREE['l']['c'] = [{'v': 0.5, 'c': []}]
        OBJS[0].v = 7.0
        OBJS.append(Node(1.0))
        OBJS[1] = Node(0.25)
        OBJS[2].nxt = LST
        REG['ra'] = lambda v: v - 1
        REG['rc'] = lambda v: v
        OBJS.reverse()
        OBJS.pop()
        ra = None
        del REG['rb']
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
