"""Optimizers, as text that reads the same for Paddle and for d2s, on gradients that are given; `record.py` runs it with Paddle.

The names in the text: `o` is optimizer, `nn`, `reg` is regularizer, `model` has the parameters `w` [3, 4] and `b` [4].
"""

import numpy as np

STEPS = 50
KEPT = [1, 2, 3, 5, 10, 20, 35, 50]  # the steps behind which parameters are recorded
ALL = "model.parameters()"
CLIPS = {"value": "nn.ClipGradByValue(0.5, -0.25)", "norm": "nn.ClipGradByNorm(1.0)", "global": "nn.ClipGradByGlobalNorm(1.5)"}
CASES = {
    "sgd": f"o.SGD(0.1, {ALL})",
    "sgd_l2": f"o.SGD(0.1, {ALL}, weight_decay=0.05)",
    "sgd_l1": f"o.SGD(0.1, {ALL}, weight_decay=reg.L1Decay(0.05))",
    "sgd_l2_object": f"o.SGD(0.1, {ALL}, weight_decay=reg.L2Decay(0.03))",
    "momentum": f"o.Momentum(0.05, 0.8, {ALL})",
    "nesterov": f"o.Momentum(0.05, 0.8, {ALL}, use_nesterov=True)",
    "momentum_decay": f"o.Momentum(0.05, 0.9, {ALL}, weight_decay=0.02, use_nesterov=True)",
    "momentum_l1": f"o.Momentum(0.05, 0.9, {ALL}, weight_decay=reg.L1Decay(0.02))",
    "adam": f"o.Adam(0.01, parameters={ALL})",
    "adam_betas": f"o.Adam(0.02, 0.8, 0.95, 1e-4, {ALL})",
    "adam_decay": f"o.Adam(0.01, parameters={ALL}, weight_decay=0.1)",
    "adamw": f"o.AdamW(0.01, parameters={ALL})",
    "adamw_decay": f"o.AdamW(0.02, 0.85, 0.97, parameters={ALL}, weight_decay=0.2)",
    "adamw_chosen": f"o.AdamW(0.01, parameters={ALL}, weight_decay=0.1, apply_decay_param_fun=lambda name: name == 'w')",
    "adamax": f"o.Adamax(0.01, parameters={ALL})",
    "adamax_decay": f"o.Adamax(0.02, 0.8, 0.9, 1e-6, {ALL}, weight_decay=0.1)",
    "adagrad": f"o.Adagrad(0.1, parameters={ALL})",
    "adagrad_begun": f"o.Adagrad(0.1, 1e-4, {ALL}, weight_decay=0.05, initial_accumulator_value=0.3)",
    "adadelta": f"o.Adadelta(0.5, parameters={ALL})",
    "adadelta_rho": f"o.Adadelta(1.0, 1e-4, 0.8, {ALL}, weight_decay=0.05)",
    "rmsprop": f"o.RMSProp(0.01, parameters={ALL})",
    "rmsprop_centered": f"o.RMSProp(0.01, 0.9, 1e-4, centered=True, parameters={ALL})",
    "rmsprop_momentum": f"o.RMSProp(0.01, 0.9, momentum=0.7, centered=True, parameters={ALL}, weight_decay=0.05)",
    "lamb": f"o.Lamb(0.01, parameters={ALL})",
    "lamb_decay": f"o.Lamb(0.02, 0.1, parameters={ALL})",
    "lamb_excluded": f"o.Lamb(0.02, 0.1, parameters={ALL}, exclude_from_weight_decay_fn=lambda p: p.name == 'b')",
    "scheduled": f"o.Adam(o.lr.ExponentialDecay(0.05, 0.95), parameters={ALL})",
    "groups": (
        "o.Adam(0.01, parameters=[{'params': [model.weight], 'learning_rate': 0.5, 'weight_decay': 0.1, 'beta1': 0.8},"
        " {'params': [model.bias]}], weight_decay=0.01)"
    ),
    "groups_sgd": (
        "o.SGD(0.1, [{'params': [model.weight], 'weight_decay': 0.1}, {'params': [model.bias], 'learning_rate': 0.1}],"
        " grad_clip=nn.ClipGradByGlobalNorm(1.0))"
    ),
    "own_rates": f"o.Momentum(0.1, 0.9, {ALL})",
    "own_decay": f"o.SGD(0.1, {ALL}, weight_decay=0.01)",
    "own_decay_adamw": f"o.AdamW(0.01, parameters={ALL}, weight_decay=0.1)",
    "unclipped": f"o.SGD(0.1, {ALL}, grad_clip=nn.ClipGradByGlobalNorm(0.5))",
}
CASES |= {f"sgd_clip_{name}": f"o.SGD(0.1, {ALL}, weight_decay=0.05, grad_clip={clip})" for name, clip in CLIPS.items()}
CASES |= {f"adam_clip_{name}": f"o.Adam(0.01, parameters={ALL}, grad_clip={clip})" for name, clip in CLIPS.items()}
CASES |= {
    "adam_amsgrad": f"o.Adam(0.05, parameters={ALL}, amsgrad=True)",
    "adamw_amsgrad": f"o.AdamW(0.05, 0.8, 0.9, parameters={ALL}, weight_decay=0.1, amsgrad=True)",
    "adam_l1": f"o.Adam(0.01, parameters={ALL}, weight_decay=reg.L1Decay(0.05))",
    "adagrad_l1": f"o.Adagrad(0.1, parameters={ALL}, weight_decay=reg.L1Decay(0.05))",
    "adam_flags": f"o.Adam(0.01, parameters={ALL}, lazy_mode=True, multi_precision=True)",
    "momentum_flags": f"o.Momentum(0.05, 0.9, {ALL}, multi_precision=True, use_multi_tensor=True)",
    "momentum_clip": f"o.Momentum(0.05, 0.9, {ALL}, grad_clip={CLIPS['global']})",
    "adamw_clip": f"o.AdamW(0.01, parameters={ALL}, grad_clip={CLIPS['norm']})",
    "rmsprop_clip": f"o.RMSProp(0.01, parameters={ALL}, grad_clip={CLIPS['global']}, weight_decay=0.1)",
    "lamb_clip_global": f"o.Lamb(0.01, parameters={ALL}, grad_clip={CLIPS['global']})",
    "lamb_clip_value": f"o.Lamb(0.01, parameters={ALL}, grad_clip={CLIPS['value']})",
}
GROUPS = {  # settings of the optimizer, of the group of w, of the group of b
    "adamw": ("0.01, weight_decay=0.1", "'weight_decay': 0.3, 'learning_rate': 0.1", "'weight_decay': 0.0, 'beta1': 0.5"),
    "momentum": ("0.05, 0.9, weight_decay=0.02", "'weight_decay': reg.L1Decay(0.1)", "'momentum': 0.5"),
    "clip": (f"0.05, grad_clip={CLIPS['value']}", f"'grad_clip': {CLIPS['norm']}", "'learning_rate': 0.5"),
    "rmsprop": ("0.01", "'rho': 0.8", "'learning_rate': 0.2"),
    "adamax": ("0.01", "'beta2': 0.8", "'epsilon': 0.1"),
    "adagrad": ("0.1", "'learning_rate': 0.3", "'epsilon': 0.1"),
    "adadelta": ("0.5", "'rho': 0.7", "'learning_rate': 0.3"),
    "lamb": ("0.02, 0.1", "'lamb_weight_decay': 0.3", "'beta1': 0.5"),
    "scheduled": ("o.lr.StepDecay(0.1, 10)", "'learning_rate': 0.5", "'weight_decay': 0.1"),
}
OF_GROUPS = {"adamw": "AdamW", "momentum": "Momentum", "clip": "Adam", "rmsprop": "RMSProp", "adamax": "Adamax"}
OF_GROUPS |= {"adagrad": "Adagrad", "adadelta": "Adadelta", "lamb": "Lamb", "scheduled": "SGD"}
for _name, (_settings, _first, _second) in GROUPS.items():
    _groups = f"[{{'params': [model.weight], {_first}}}, {{'params': [model.bias], {_second}}}]"
    CASES[f"groups_{_name}"] = f"o.{OF_GROUPS[_name]}({_settings}, parameters={_groups})"
ATTRIBUTES = {  # of the parameter w
    "own_rates": "learning_rate=0.25",
    "own_decay": "regularizer=reg.L1Decay(0.1)",
    "own_decay_adamw": "regularizer=reg.L2Decay(0.1)",
    "unclipped": "need_clip=False",
}


def drawn(seed, shape):
    return np.random.RandomState(seed).standard_normal(shape).astype("float32")


def model_of(paddle, case):
    scope = {"reg": paddle.regularizer, "attr": paddle.ParamAttr, "assign": paddle.nn.initializer.Assign(drawn(0, [3, 4]))}
    weight = eval(f"attr(name='w', initializer=assign, {ATTRIBUTES.get(case, '')})", scope)
    return paddle.nn.Linear(3, 4, weight_attr=weight, bias_attr=paddle.ParamAttr(name="b"))


def run(paddle, case):
    """What parameters and state are: arrays by name."""
    model = model_of(paddle, case)
    names = {"o": paddle.optimizer, "nn": paddle.nn, "reg": paddle.regularizer, "model": model}
    optimizer = eval(CASES[case], names)
    found = {}
    for step in range(1, STEPS + 1):
        gradients = [paddle.to_tensor(drawn(100 * step + k, p.shape)) for k, p in enumerate((model.weight, model.bias))]
        ((model.weight * gradients[0]).sum() + (model.bias * gradients[1]).sum()).backward()
        optimizer.step()
        optimizer.clear_grad()
        if "scheduled" in case:
            optimizer._learning_rate.step()
        if step in KEPT:
            found |= {f"w{step}": model.weight.numpy(), f"b{step}": model.bias.numpy()}
    state = {k: v for k, v in optimizer.state_dict().items() if k != "LR_Scheduler"}
    return found | {f"state {name}": np.asarray(value.numpy()) for name, value in state.items()}
