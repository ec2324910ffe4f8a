//! The nonlinearities of modules, forward and backward; some have several outputs per unit.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, N_LANES, SimdVector, load_from, store_from};
use crate::exponential::{exp, sigmoid, tanh};
use serde::{Deserialize, Serialize};

/// A function of each unit. Concatenating nonlinearities have `n_parts` outputs per unit, `[n_parts, n_units]`:
/// `CReLU(x) = relu(x), relu(-x)` of `[n]` is `[2n]`.
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

/// Maximum number of outputs per unit.
pub(crate) const MAX_PARTS: usize = 4;

impl Nonlinearity {
    /// Outputs per unit.
    pub const fn n_parts(self) -> usize {
        match self {
            Self::Relu | Self::Tanh | Self::Sigmoid | Self::Elu => 1,
            Self::Crelu | Self::ReluSq | Self::Sq => 2,
            Self::Cres => 4,
        }
    }

    /// The name in tables.
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

    /// The side of 0 on which each part can differ from 0.
    #[inline(always)]
    pub(crate) const fn active_sides(self) -> [Side; MAX_PARTS] {
        use Side::{Both, Down, Up};
        match self {
            Self::Relu => [Up; MAX_PARTS],
            Self::Crelu | Self::Cres => [Up, Down, Up, Down],
            Self::ReluSq => [Up, Both, Both, Both],
            Self::Tanh | Self::Sigmoid | Self::Elu | Self::Sq => [Both; MAX_PARTS],
        }
    }

    /// The polynomials on each side of 0, if the nonlinearity consists of polynomials.
    #[inline(always)]
    pub(crate) fn side_polynomials(self) -> Option<SidePolynomials> {
        const ZERO: [f32; 2] = [0.0, 0.0];
        const X: [f32; 2] = [1.0, 0.0];
        const MINUS_X: [f32; 2] = [-1.0, 0.0];
        const SQUARE: [f32; 2] = [0.0, 1.0];
        let (above, below): (&'static [_], &'static [_]) = match self {
            Self::Tanh | Self::Sigmoid | Self::Elu => return None,
            Self::Relu => (&[X], &[ZERO]),
            Self::Crelu => (&[X, ZERO], &[ZERO, MINUS_X]),
            Self::Cres => (&[X, ZERO, SQUARE, ZERO], &[ZERO, MINUS_X, ZERO, SQUARE]),
            Self::ReluSq => (&[X, SQUARE], &[ZERO, SQUARE]),
            Self::Sq => (&[X, SQUARE], &[X, SQUARE]),
        };
        Some(SidePolynomials { above, below })
    }

    /// `x` is `[n_rows, n]`, `out` is `[n_rows, n_parts * n]`.
    pub(crate) fn forward(self, instructions: Instructions, n: usize, x: &[f32], out: &mut [f32]) {
        self.forward_strided(instructions, n, x, out, self.n_parts() * n);
    }

    /// The same with rows of `out` that are `stride` apart.
    pub(crate) fn forward_strided(
        self,
        instructions: Instructions,
        n: usize,
        x: &[f32],
        out: &mut [f32],
        stride: usize,
    ) {
        instructions.run(Forward { nonlinearity: self, n, x, out, stride });
    }

    /// `x` and `dx` are `[n_rows, n]`, `out` and `dout` are `[n_rows, n_parts * n]`, `out` being the output of `forward`.
    /// Sets `dx`. The derivative at 0 is 0.
    pub(crate) fn backward(self, instructions: Instructions, n: usize, pass: BackwardPass<'_>) {
        self.backward_strided(instructions, n, pass, self.n_parts() * n);
    }

    /// The same with rows of `out` and `dout` that are `stride` apart.
    pub(crate) fn backward_strided(
        self,
        instructions: Instructions,
        n: usize,
        pass: BackwardPass<'_>,
        stride: usize,
    ) {
        instructions.run(Backward { nonlinearity: self, n, pass, stride });
    }
}

/// The sign of a unit's pre-activations.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Up,
    Down,
    Both,
}

/// A nonlinearity that is a polynomial on each side of 0: `[a, b]` means `a x + b x^2`, one for each part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SidePolynomials {
    above: &'static [[f32; 2]],
    below: &'static [[f32; 2]],
}

impl SidePolynomials {
    /// The polynomials of a weighted sum of the parts: above 0, below 0.
    #[inline(always)]
    pub fn weighted(&self, weight: impl Fn(usize) -> f32) -> [[f32; 2]; 2] {
        // A plain loop: closures given to `map` are not always inlined.
        let mut sides = [[0.0; 2]; 2];
        for (side, parts) in sides.iter_mut().zip([self.above, self.below]) {
            for (part, polynomial) in parts.iter().enumerate() {
                side[0] += weight(part) * polynomial[0];
                side[1] += weight(part) * polynomial[1];
            }
        }
        sides
    }

    /// Whether all parts are 0 below 0.
    pub fn are_zero_below(&self) -> bool {
        self.below.iter().flatten().all(|&factor| factor == 0.0)
    }

    /// The part with `x` (power 0) or `x^2` (power 1) above 0 (side 0) or below (side 1), and its factor. No two parts have the
    /// same power on the same side.
    pub fn term(&self, side: usize, power: usize) -> Option<(usize, f32)> {
        let parts = [self.above, self.below][side].iter().map(|polynomial| polynomial[power]);
        parts.enumerate().find(|&(_, factor)| factor != 0.0)
    }

    pub fn have_squares(&self) -> bool {
        self.above.iter().chain(self.below).any(|polynomial| polynomial[1] != 0.0)
    }

    /// Whether the factors of `x`, and of `x^2`, differ between the two sides.
    #[inline(always)]
    pub fn differ(&self) -> [bool; 2] {
        [0, 1]
            .map(|power| self.above.iter().zip(self.below).any(|(above, below)| above[power] != below[power]))
    }
}

/// Arguments of a backward pass.
pub(crate) struct BackwardPass<'a> {
    pub x: &'a [f32],
    pub out: &'a [f32],
    pub dout: &'a [f32],
    pub dx: &'a mut [f32],
}

#[inline(always)]
fn relu<A: SimdVector>(x: A::V) -> A::V {
    A::max(A::zero(), x)
}

#[inline(always)]
fn negated<A: SimdVector>(x: A::V) -> A::V {
    A::sub(A::zero(), x)
}

/// The outputs of each unit; parts that the nonlinearity does not have are 0.
#[inline(always)]
pub(crate) fn parts<A: SimdVector>(nonlinearity: Nonlinearity, x: A::V) -> [A::V; MAX_PARTS] {
    let zero = A::zero();
    let one = |part| [part, zero, zero, zero];
    match nonlinearity {
        Nonlinearity::Relu => one(relu::<A>(x)),
        Nonlinearity::Tanh => one(tanh::<A>(x)),
        Nonlinearity::Sigmoid => one(sigmoid::<A>(x)),
        Nonlinearity::Elu => one(A::select_less(zero, x, x, A::sub(exp::<A>(x), A::splat(1.0)))),
        Nonlinearity::Crelu => [relu::<A>(x), relu::<A>(negated::<A>(x)), zero, zero],
        Nonlinearity::Cres => {
            let (up, down) = (relu::<A>(x), relu::<A>(negated::<A>(x)));
            [up, down, A::mul(up, up), A::mul(down, down)]
        }
        Nonlinearity::ReluSq => [relu::<A>(x), A::mul(x, x), zero, zero],
        Nonlinearity::Sq => [x, A::mul(x, x), zero, zero],
    }
}

/// The gradient of eight units from the gradient `d` of their outputs; `out` is the first output.
#[inline(always)]
fn d_preact<A: Arithmetic>(nonlinearity: Nonlinearity, x: A::V, out: A::V, d: [A::V; MAX_PARTS]) -> A::V {
    let (zero, one) = (A::zero(), A::splat(1.0));
    let up = |d| A::select_if_less(zero, x, d);
    let down = |d| A::select_if_less(x, zero, d);
    let twice = A::add(x, x);
    match nonlinearity {
        Nonlinearity::Relu => up(d[0]),
        Nonlinearity::Tanh => A::mul(d[0], A::sub(one, A::mul(out, out))),
        Nonlinearity::Sigmoid => A::mul(A::mul(d[0], out), A::sub(one, out)),
        // Below 0 the derivative is e^x = out + 1; at 0 it is 1 from both sides.
        Nonlinearity::Elu => A::select_less(zero, x, d[0], A::mul(d[0], A::add(out, one))),
        Nonlinearity::Crelu => A::sub(up(d[0]), down(d[1])),
        Nonlinearity::Cres => {
            let (rising, falling) =
                (A::mul_add(twice, d[2], d[0]), A::mul_add(twice, d[3], negated::<A>(d[1])));
            A::add(up(rising), down(falling))
        }
        Nonlinearity::ReluSq => A::mul_add(twice, d[1], up(d[0])),
        Nonlinearity::Sq => A::mul_add(twice, d[1], d[0]),
    }
}

/// Evaluates an expression with the nonlinearity, and optionally its number of parts, as a constant, so that loops do not
/// branch on it.
macro_rules! with_known {
    ($nonlinearity:expr, |$known:ident $(, $parts:ident)?| $work:expr) => {
        match $nonlinearity {
            Nonlinearity::Relu => with_known!(@ Relu |$known $(, $parts)?| $work),
            Nonlinearity::Tanh => with_known!(@ Tanh |$known $(, $parts)?| $work),
            Nonlinearity::Sigmoid => with_known!(@ Sigmoid |$known $(, $parts)?| $work),
            Nonlinearity::Elu => with_known!(@ Elu |$known $(, $parts)?| $work),
            Nonlinearity::Crelu => with_known!(@ Crelu |$known $(, $parts)?| $work),
            Nonlinearity::Cres => with_known!(@ Cres |$known $(, $parts)?| $work),
            Nonlinearity::ReluSq => with_known!(@ ReluSq |$known $(, $parts)?| $work),
            Nonlinearity::Sq => with_known!(@ Sq |$known $(, $parts)?| $work),
        }
    };
    (@ $kind:ident |$known:ident $(, $parts:ident)?| $work:expr) => {{
        const KNOWN: Nonlinearity = Nonlinearity::$kind;
        $(const $parts: usize = KNOWN.n_parts();)?
        let $known = KNOWN;
        $work
    }};
}
pub(crate) use with_known;

struct Forward<'a> {
    nonlinearity: Nonlinearity,
    n: usize,
    x: &'a [f32],
    out: &'a mut [f32],
    stride: usize,
}

impl Kernel for Forward<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        with_known!(self.nonlinearity, |known| self.rows::<A>(known))
    }
}

impl Forward<'_> {
    #[inline(always)]
    fn rows<A: Arithmetic>(self, known: Nonlinearity) {
        let Self { n, x, out, stride, .. } = self;
        let n_parts = known.n_parts();
        for (x, out) in x.chunks_exact(n).zip(out.chunks_mut(stride)) {
            for start in (0..n).step_by(N_LANES) {
                let parts = parts::<A>(known, load_from::<A>(x, start));
                for (part, &values) in parts[..n_parts].iter().enumerate() {
                    store_from::<A>(values, &mut out[part * n..(part + 1) * n], start);
                }
            }
        }
    }
}

struct Backward<'a> {
    nonlinearity: Nonlinearity,
    n: usize,
    pass: BackwardPass<'a>,
    stride: usize,
}

impl Kernel for Backward<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        with_known!(self.nonlinearity, |known| self.rows::<A>(known))
    }
}

impl Backward<'_> {
    #[inline(always)]
    fn rows<A: Arithmetic>(self, known: Nonlinearity) {
        let Self { n, pass: BackwardPass { x, out, dout, dx }, stride, .. } = self;
        let n_parts = known.n_parts();
        let outs = out.chunks(stride).zip(dout.chunks(stride));
        for ((x, dx), (out, dout)) in x.chunks_exact(n).zip(dx.chunks_exact_mut(n)).zip(outs) {
            for start in (0..n).step_by(N_LANES) {
                let mut d = [A::zero(); MAX_PARTS];
                for (part, d) in d[..n_parts].iter_mut().enumerate() {
                    *d = load_from::<A>(&dout[part * n..(part + 1) * n], start);
                }
                let first_part = load_from::<A>(&out[..n], start);
                let dx_lanes = d_preact::<A>(known, load_from::<A>(x, start), first_part, d);
                store_from::<A>(dx_lanes, dx, start);
            }
        }
    }
}
