//! The nonlinearities of modules, each with its gradient beside it; some make several numbers out of one.

use crate::exponential::{exp, sigmoid, tanh};
use crate::instructions::{Arithmetic, Instructions, Kernel};
use crate::lanes::{Lanes, N_LANES, ZERO, each};
use serde::{Deserialize, Serialize};

/// A function of each unit. Those that concatenate give `n_parts` numbers for each, all units of one part standing
/// together: `CReLU(x) = relu(x), relu(-x)` of `[n]` is `[2n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nonlinearity {
    /// `max(x, 0)`.
    Relu,
    /// `tanh(x)`.
    Tanh,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// `x` above 0, `e^x - 1` below.
    Elu,
    /// `relu(x), relu(-x)`.
    Crelu,
    /// `relu(x), relu(-x), relu(x)^2, relu(-x)^2`: symmetric and multiplicative.
    Cres,
    /// `relu(x), x^2`.
    ReluSq,
    /// `x, x^2`.
    Sq,
}

/// The most numbers that a nonlinearity makes of one.
pub const MAX_PARTS: usize = 4;

impl Nonlinearity {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Relu,
        Self::Tanh,
        Self::Sigmoid,
        Self::Elu,
        Self::Crelu,
        Self::Cres,
        Self::ReluSq,
        Self::Sq,
    ];

    /// How many numbers it makes of one.
    pub const fn n_parts(self) -> usize {
        match self {
            Self::Relu | Self::Tanh | Self::Sigmoid | Self::Elu => 1,
            Self::Crelu | Self::ReluSq | Self::Sq => 2,
            Self::Cres => 4,
        }
    }

    /// As it is written in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Relu => "relu",
            Self::Tanh => "tanh",
            Self::Sigmoid => "sigmoid",
            Self::Elu => "elu",
            Self::Crelu => "CReLU",
            Self::Cres => "CReS",
            Self::ReluSq => "ReLU+Sq",
            Self::Sq => "Sq",
        }
    }

    /// `x` is `[n_rows, n]`, `out` is `[n_rows, n_parts * n]`.
    pub(crate) fn forward(self, instructions: Instructions, n: usize, x: &[f32], out: &mut [f32]) {
        instructions.run(Forward { nonlinearity: self, n, x, out });
    }

    /// `x` and `dx` are `[n_rows, n]`, `out` and `dout` are `[n_rows, n_parts * n]`, `out` being what `forward` made.
    /// Sets `dx`; the slope at 0 is 0.
    pub(crate) fn backward(self, instructions: Instructions, n: usize, pass: BackwardPass<'_>) {
        instructions.run(Backward { nonlinearity: self, n, pass });
    }
}

/// What goes back through a nonlinearity.
pub(crate) struct BackwardPass<'a> {
    pub x: &'a [f32],
    pub out: &'a [f32],
    pub dout: &'a [f32],
    pub dx: &'a mut [f32],
}

#[inline(always)]
fn relu(x: f32) -> f32 {
    // This way round, NaN stays NaN.
    if x < 0.0 { 0.0 } else { x }
}

/// The parts of eight units; those that there are not are 0.
#[inline(always)]
pub(crate) fn parts<A: Arithmetic>(nonlinearity: Nonlinearity, x: &Lanes) -> [Lanes; MAX_PARTS] {
    let one = |lanes| [lanes, ZERO, ZERO, ZERO];
    match nonlinearity {
        Nonlinearity::Relu => one(each(|i| relu(x[i]))),
        Nonlinearity::Tanh => one(tanh::<A>(x)),
        Nonlinearity::Sigmoid => one(sigmoid::<A>(x)),
        Nonlinearity::Elu => {
            let e = exp::<A>(x);
            one(each(|i| if x[i] > 0.0 { x[i] } else { e[i] - 1.0 }))
        }
        Nonlinearity::Crelu => [each(|i| relu(x[i])), each(|i| relu(-x[i])), ZERO, ZERO],
        Nonlinearity::Cres => {
            let [up, down] = [each(|i| relu(x[i])), each(|i| relu(-x[i]))];
            [up, down, each(|i| up[i] * up[i]), each(|i| down[i] * down[i])]
        }
        Nonlinearity::ReluSq => [each(|i| relu(x[i])), each(|i| x[i] * x[i]), ZERO, ZERO],
        Nonlinearity::Sq => [*x, each(|i| x[i] * x[i]), ZERO, ZERO],
    }
}

/// The gradient of eight units, from that of their parts; `out` is their first part.
#[inline(always)]
fn slopes<A: Arithmetic>(
    nonlinearity: Nonlinearity,
    x: &Lanes,
    out: &Lanes,
    d: &[Lanes; MAX_PARTS],
) -> Lanes {
    let up = |i: usize, slope: f32| if x[i] > 0.0 { slope } else { 0.0 };
    let down = |i: usize, slope: f32| if x[i] < 0.0 { slope } else { 0.0 };
    match nonlinearity {
        Nonlinearity::Relu => each(|i| up(i, d[0][i])),
        Nonlinearity::Tanh => each(|i| d[0][i] * (1.0 - out[i] * out[i])),
        Nonlinearity::Sigmoid => each(|i| d[0][i] * out[i] * (1.0 - out[i])),
        // Below 0 the slope is e^x, which is the value and 1; at 0 it is 1 from both sides.
        Nonlinearity::Elu => each(|i| if x[i] > 0.0 { d[0][i] } else { d[0][i] * (out[i] + 1.0) }),
        Nonlinearity::Crelu => each(|i| up(i, d[0][i]) - down(i, d[1][i])),
        Nonlinearity::Cres => each(|i| {
            let rising = A::mul_add(2.0 * x[i], d[2][i], d[0][i]);
            let falling = A::mul_add(2.0 * x[i], d[3][i], -d[1][i]);
            up(i, rising) + down(i, falling)
        }),
        Nonlinearity::ReluSq => each(|i| A::mul_add(2.0 * x[i], d[1][i], up(i, d[0][i]))),
        Nonlinearity::Sq => each(|i| A::mul_add(2.0 * x[i], d[1][i], d[0][i])),
    }
}

struct Forward<'a> {
    nonlinearity: Nonlinearity,
    n: usize,
    x: &'a [f32],
    out: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { nonlinearity, n, x, out } = self;
        let n_parts = nonlinearity.n_parts();
        for (x, out) in x.chunks_exact(n).zip(out.chunks_exact_mut(n_parts * n)) {
            for start in (0..n).step_by(N_LANES) {
                let len = N_LANES.min(n - start);
                let parts = parts::<A>(nonlinearity, &load(&x[start..start + len]));
                for (part, lanes) in parts[..n_parts].iter().enumerate() {
                    out[part * n + start..][..len].copy_from_slice(&lanes[..len]);
                }
            }
        }
    }
}

struct Backward<'a> {
    nonlinearity: Nonlinearity,
    n: usize,
    pass: BackwardPass<'a>,
}

impl Kernel for Backward<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { nonlinearity, n, pass: BackwardPass { x, out, dout, dx } } = self;
        let n_parts = nonlinearity.n_parts();
        let outs = out.chunks_exact(n_parts * n).zip(dout.chunks_exact(n_parts * n));
        for ((x, dx), (out, dout)) in x.chunks_exact(n).zip(dx.chunks_exact_mut(n)).zip(outs) {
            for start in (0..n).step_by(N_LANES) {
                let len = N_LANES.min(n - start);
                let mut d = [ZERO; MAX_PARTS];
                for (part, lanes) in d[..n_parts].iter_mut().enumerate() {
                    *lanes = load(&dout[part * n + start..][..len]);
                }
                let (x, out) = (load(&x[start..start + len]), load(&out[start..start + len]));
                let slopes = slopes::<A>(nonlinearity, &x, &out, &d);
                dx[start..start + len].copy_from_slice(&slopes[..len]);
            }
        }
    }
}

/// Up to eight numbers, the rest 0.
#[inline(always)]
fn load(numbers: &[f32]) -> Lanes {
    let mut lanes = ZERO;
    lanes[..numbers.len()].copy_from_slice(numbers);
    lanes
}
