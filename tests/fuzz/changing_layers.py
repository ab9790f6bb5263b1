"""Layers, tensors, arrays, functions made static and modules that a function may read: see `changing_places`."""

from changing_places import place

PLACES = {
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
    "containers of layers": place(
        """
        SEQ = d2s.nn.Sequential(d2s.nn.Linear(4, 4, weight_attr=d2s.nn.initializer.Constant(0.1)), d2s.nn.ReLU())
        LD = d2s.nn.LayerDict({'a': d2s.nn.ReLU(), 'b': d2s.nn.Tanh()})
        HALF = d2s.nn.initializer.Constant(0.5)
        PL = d2s.nn.ParameterList([d2s.create_parameter([4], 'float32', default_initializer=HALF) for _ in range(2)])
        BN = d2s.nn.BatchNorm1D(4)
        BN.eval()
        DR = d2s.nn.Dropout(0.5)
        DR.eval()
        LS = d2s.optimizer.lr.StepDecay(0.5, 2)
        OPT = d2s.optimizer.SGD(LS, parameters=SEQ.parameters())
        """,
        """
        SEQ(x)
        SEQ[0](x)
        len(SEQ)
        LD['a'](x)
        len(LD)
        PL[0]
        len(PL)
        sum(p.sum() for p in PL)
        BN(x.reshape([1, 4])).sum()
        DR(x)
        OPT.get_lr()
        sum(p.sum() for p in SEQ.parameters())
        [layer(x) for layer in LD.values()][0]
        [n for n, p in SEQ.named_parameters()][0] == '0.weight'
        BN._mean.sum()
        SEQ[0].weight.trainable
        float(DR.training)
        LS.last_epoch
        LS()
        """,
        """
        SEQ.append(d2s.nn.Tanh())
        SEQ[1] = d2s.nn.Tanh()
        SEQ = d2s.nn.Sequential(d2s.nn.ReLU())
        LD['a'] = d2s.nn.Sigmoid()
        LD['c'] = d2s.nn.Sigmoid()
        LD.pop('b')
        PL.append(d2s.create_parameter([4], 'float32'))
        PL[0] = d2s.create_parameter([4], 'float32', default_initializer=d2s.nn.initializer.Constant(0.75))
        BN._mean.set_value(d2s.ones([4]))
        BN._epsilon = 0.1
        BN.weight.set_value(d2s.full([4], 2.0))
        DR.p = 0.25
        LS.step()
        OPT.set_lr_scheduler(d2s.optimizer.lr.StepDecay(0.125, 2))
        SEQ[0].weight.trainable = False
        SEQ[0].weight.stop_gradient = True
        SEQ.eval()
        SEQ[0].weight.add_(d2s.ones([4, 4]))
        SEQ[0].weight[0, 0] = 5.0
        OPT.step()
        PL[1].set_value(d2s.zeros([4]))
        LD.clear()
        """,
    ),
    "static functions": place(
        """
        SV = 2.0
        @d2s.to_static
        def sg(v):
            return v * SV
        @d2s.jit.not_to_static
        def ng(v):
            return v * SV
        class SM:
            q = 1.5
            @d2s.to_static
            def m(self, v):
                return v * self.q
        SMO = SM()
        """,
        """
        sg(x)
        ng(x)
        SMO.m(x)
        sg(sg(x))
        """,
        """
        SV = 3.0
        sg = lambda v: v * 4.0
        SM.q = 2.5
        SMO.q = 3.5
        SMO = SM()
        SM.m = lambda self, v: v * 9.0
        ng = lambda v: v
        d2s.jit.enable_to_static(False)
        d2s.jit.enable_to_static(True)
        """,
    ),
    "patched modules": place(
        """
        import math, os, operator
        from d2s.nn import functional as F
        tanh = d2s.tanh
        os.environ['CW'] = '1'
        """,
        """
        math.pi
        math.sin(1.0)
        tanh(x)
        F.relu(x)
        d2s.tanh(x)
        float(os.environ['CW'])
        operator.add(x, 1)
        float(os.environ.get('CWX', '2'))
        round(2.5)
        max(1.0, 2.0)
        """,
        """
        math = types.SimpleNamespace(pi=3.0, sin=lambda v: 0.5)
        tanh = d2s.exp
        tanh = lambda v: v * 3
        F = types.SimpleNamespace(relu=lambda v: v)
        os.environ['CW'] = '3'
        os.environ['CWX'] = '5'
        operator = types.SimpleNamespace(add=lambda a, b: a)
        round = lambda v: 9.0
        max = min
        """,
    ),
}
