"""Activations in place: `F.relu_(x)` is `x.relu_()`. In: a tensor. Out: it, changed.

>>> x = d2s.to_tensor([-1.0, 2.0])
>>> d2s.nn.functional.relu_(x) is x, x.tolist()
(True, [0.0, 2.0])
"""

from d2s.eager.in_place_forms import FUNCTIONS

relu_, tanh_, softmax_ = FUNCTIONS["relu_"], FUNCTIONS["tanh_"], FUNCTIONS["softmax_"]
elu_, leaky_relu_, hardtanh_ = FUNCTIONS["elu_"], FUNCTIONS["leaky_relu_"], FUNCTIONS["hardtanh_"]
thresholded_relu_ = FUNCTIONS["thresholded_relu_"]
