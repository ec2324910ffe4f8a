//! Transformed reward maps, forward and backward: `m' = W2 CReS(W1 [m, m * relu(G a + g), a] + b1) + b2`, where `m` are an
//! old module's logits and `a` the touches.

use crate::composite::layout::{MAP_PARTS, MapPlaces};

/// The intermediate values of one step.
#[derive(Clone, Debug)]
pub(crate) struct MapMemory {
    /// `relu(G a + g)`, `[k_f]`.
    gates: Vec<f32>,
    /// `[n_in]`
    inputs: Vec<f32>,
    /// `[n_hidden]`
    preact: Vec<f32>,
    /// `[4 n_hidden]`
    activations: Vec<f32>,
    d_activations: Vec<f32>,
    d_inputs: Vec<f32>,
}

impl MapMemory {
    pub fn new(places: &MapPlaces) -> Self {
        Self {
            gates: vec![0.0; places.k_f],
            inputs: vec![0.0; places.n_in()],
            preact: vec![0.0; places.n_hidden],
            activations: vec![0.0; MAP_PARTS * places.n_hidden],
            d_activations: vec![0.0; MAP_PARTS * places.n_hidden],
            d_inputs: vec![0.0; places.n_in()],
        }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl MapPlaces {
    /// `parameters` are those of all map transformations.
    pub fn transform(
        &self,
        parameters: &[f32],
        logits: &[f32],
        touches: &[f32],
        memory: &mut MapMemory,
        out: &mut [f32],
    ) {
        let k_f = self.k_f;
        let gate_rows = parameters[self.gate_weights()].chunks_exact(self.n_touch);
        for ((gate, row), bias) in memory.gates.iter_mut().zip(gate_rows).zip(&parameters[self.gate_biases()])
        {
            *gate = (dot(row, touches) + bias).max(0.0);
        }
        memory.inputs[..k_f].copy_from_slice(logits);
        let gated = memory.inputs[k_f..2 * k_f].iter_mut().zip(logits).zip(&memory.gates);
        gated.for_each(|((input, logit), gate)| *input = logit * gate);
        memory.inputs[2 * k_f..].copy_from_slice(touches);
        let hidden_rows = parameters[self.hidden_weights()].chunks_exact(self.n_in());
        let biases = &parameters[self.hidden_biases()];
        for (unit, (row, bias)) in hidden_rows.zip(biases).enumerate() {
            let x = dot(row, &memory.inputs) + bias;
            let (up, down) = (x.max(0.0), (-x).max(0.0));
            memory.preact[unit] = x;
            for (part, number) in [up, down, up * up, down * down].into_iter().enumerate() {
                memory.activations[part * self.n_hidden + unit] = number;
            }
        }
        let out_rows = parameters[self.out_weights()].chunks_exact(memory.activations.len());
        for ((out, row), bias) in out.iter_mut().zip(out_rows).zip(&parameters[self.out_biases()]) {
            *out = dot(row, &memory.activations) + bias;
        }
    }

    /// The backward pass of the last step that was transformed: adds to the gradient of its logits and of the parameters.
    pub fn transform_backward(
        &self,
        parameters: &[f32],
        touches: &[f32],
        memory: &mut MapMemory,
        d_out: &[f32],
        d_logits: &mut [f32],
        gradient: &mut [f32],
    ) {
        let k_f = self.k_f;
        memory.d_activations.fill(0.0);
        backward(
            &parameters[self.out_weights()],
            &memory.activations,
            d_out,
            &mut memory.d_activations,
            &mut gradient[self.out_weights()],
        );
        add(&mut gradient[self.out_biases()], d_out);
        let n = self.n_hidden;
        for unit in 0..n {
            let x = memory.preact[unit];
            let d = |part: usize| memory.d_activations[part * n + unit];
            memory.preact[unit] = match x {
                x if x > 0.0 => d(0) + 2.0 * x * d(2),
                x if x < 0.0 => -d(1) + 2.0 * x * d(3),
                _ => 0.0,
            };
        }
        // The pre-activations were replaced by their gradient.
        let d_preact = &memory.preact;
        memory.d_inputs.fill(0.0);
        backward(
            &parameters[self.hidden_weights()],
            &memory.inputs,
            d_preact,
            &mut memory.d_inputs,
            &mut gradient[self.hidden_weights()],
        );
        add(&mut gradient[self.hidden_biases()], d_preact);
        for map in 0..k_f {
            let (d_plain, d_gated) = (memory.d_inputs[map], memory.d_inputs[k_f + map]);
            d_logits[map] += d_plain + d_gated * memory.gates[map];
            if memory.gates[map] > 0.0 {
                let d_gate = d_gated * memory.inputs[map];
                let start = self.gate_weights().start + map * self.n_touch;
                let d_row = &mut gradient[start..start + self.n_touch];
                d_row.iter_mut().zip(touches).for_each(|(d, touch)| *d += d_gate * touch);
                gradient[self.gate_biases().start + map] += d_gate;
            }
        }
    }
}

fn add(sums: &mut [f32], more: &[f32]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// Through `W x`: adds to the gradient of `x` and of `W`.
fn backward(weights: &[f32], x: &[f32], d_out: &[f32], dx: &mut [f32], d_weights: &mut [f32]) {
    let n = x.len();
    for ((row, d_row), d) in weights.chunks_exact(n).zip(d_weights.chunks_exact_mut(n)).zip(d_out) {
        for idx in 0..n {
            dx[idx] += d * row[idx];
            d_row[idx] += d * x[idx];
        }
    }
}
