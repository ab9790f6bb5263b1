"""Schedules, as text that reads the same for Paddle (`lr` is paddle.optimizer.lr) and for d2s; `record.py` runs it there."""

STEPS = 200
SCHEDULES = {
    "noam": "lr.NoamDecay(64, 40, 0.5)",
    "piecewise": "lr.PiecewiseDecay([30, 60, 150], [0.3, 0.2, 0.1, 0.05])",
    "natural_exp": "lr.NaturalExpDecay(0.5, 0.05)",
    "inverse_time": "lr.InverseTimeDecay(0.5, 0.1)",
    "polynomial": "lr.PolynomialDecay(0.5, 70, end_lr=0.01, power=1.5)",
    "polynomial_cycle": "lr.PolynomialDecay(0.5, 35, power=2.0, cycle=True)",
    "warmup_number": "lr.LinearWarmup(0.5, 20, 0.1, 0.5)",
    "warmup_schedule": "lr.LinearWarmup(lr.StepDecay(0.5, 30), 20, 0.0, 0.5)",
    "warmup_cosine": "lr.LinearWarmup(lr.CosineAnnealingDecay(0.5, 50), 20, 0.0, 0.5)",
    "exponential": "lr.ExponentialDecay(0.5, 0.97)",
    "multi_step": "lr.MultiStepDecay(0.5, [30, 60, 150], gamma=0.3)",
    "step": "lr.StepDecay(0.5, 30, gamma=0.5)",
    "lambda": "lr.LambdaDecay(0.5, lambda epoch: 0.95**epoch)",
    "multiplicative": "lr.MultiplicativeDecay(0.5, lambda epoch: 0.9 if epoch % 3 else 1.1)",
    "cosine": "lr.CosineAnnealingDecay(0.5, 23, eta_min=0.01)",
    "warm_restarts": "lr.CosineAnnealingWarmRestarts(0.5, 7, T_mult=2, eta_min=0.01)",
    "warm_restarts_even": "lr.CosineAnnealingWarmRestarts(0.5, 11)",
    "one_cycle": "lr.OneCycleLR(0.5, 200)",
    "one_cycle_linear": "lr.OneCycleLR(0.5, 200, divide_factor=9.0, phase_pct=0.4, anneal_strategy='linear', three_phase=True)",
    "one_cycle_three": "lr.OneCycleLR(0.5, 201, end_learning_rate=0.001, phase_pct=0.25, three_phase=True)",
    "cyclic": "lr.CyclicLR(0.1, 0.5, 13)",
    "cyclic_half": "lr.CyclicLR(0.1, 0.5, 7, 19, mode='triangular2')",
    "cyclic_exp": "lr.CyclicLR(0.1, 0.5, 9, mode='exp_range', exp_gamma=0.99)",
    "cyclic_own": "lr.CyclicLR(0.1, 0.5, 9, scale_fn=lambda x: 0.99**x, scale_mode='iterations')",
    "linear": "lr.LinearLR(0.5, 90, start_factor=0.2, end_factor=0.9)",
    "linear_down": "lr.LinearLR(0.5, 40, start_factor=1.0, end_factor=0.1)",
    "plateau": "lr.ReduceOnPlateau(0.5, factor=0.5, patience=3, cooldown=2, min_lr=0.001)",
    "plateau_max": "lr.ReduceOnPlateau(0.5, mode='max', factor=0.7, patience=2, threshold=0.05, threshold_mode='abs')",
}
JUMPS = [3, 50, 17, 17, 0, 120]


def watched(step):
    """What a plateau scheduler is shown: it falls, stands, rises and falls again."""
    return 1.0 / (1 + step % 40) if step < 100 else 0.02 + 0.3 * (step % 7 == 0)


def run(lr, name):
    """The rates of a schedule, step by step; then at given epochs, each followed by a step."""
    plateau = name.startswith("plateau")
    scheduler = eval(SCHEDULES[name], {"lr": lr})
    rates = [scheduler()]
    for step in range(STEPS):
        scheduler.step(*([watched(step)] if plateau else []))
        rates.append(scheduler())
    if not plateau:
        scheduler = eval(SCHEDULES[name], {"lr": lr})
        for epoch in JUMPS:
            scheduler.step(epoch)
            rates.append(scheduler())
            scheduler.step()
            rates.append(scheduler())
    return rates
