//! Options of the encoder, shared by all commands and configurations.

use super::setting::settings;
use crate::error::{Context, Error, Result, bail};
use crate::watch::{Event, Watch};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use touchstream_encoder::install::{is_installed_vgg16, vgg16_path};
use touchstream_encoder::vgg16::Vgg16;
use touchstream_encoder::vgg16::weights::Vgg16Weights;
use touchstream_encoder::{Compact, Encoder, EncoderSpec, Layout, OnnxEncoder, OnnxSettings, Preprocessing};

settings! {
    /// How an encoder is opened.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct EncoderOptions {
        ["Encoder"]
        weights: Option<PathBuf> = "FILE", "Weights for vgg16: safetensors with torchvision's names [default: the installed ones]";
        scene: Option<String> = "NODE", "Node of an ONNX model to use as the scene vector";
        map: Option<String> = "NODE", "Node of an ONNX model to use as the spatial map";
        onnx_mean: Option<[f32; 3]> = "R,G,B", "Mean of red, green and blue that is subtracted from an ONNX model's input, on a scale of 0 to 1 [default: ImageNet's mean]";
        onnx_std: Option<[f32; 3]> = "R,G,B", "Standard deviation by which an ONNX model's input is then divided [default: ImageNet's deviation]";
        onnx_layout: Option<Layout> = "LAYOUT", "Axis order of an ONNX model's input: nchw or nhwc [default: as the model declares]";
    }
    with {}
}

impl EncoderOptions {
    /// Opens an encoder; installed weights are expected in the cache folder.
    pub fn open(
        &self,
        spec: &EncoderSpec,
        cache_dir: Option<&Path>,
        watch: &dyn Watch,
    ) -> Result<Box<dyn Encoder>> {
        self.check(spec)?;
        match spec {
            EncoderSpec::Compact => Ok(Box::new(Compact::built_in())),
            EncoderSpec::Vgg16 => Ok(Box::new(Vgg16::new(self.read_vgg16(cache_dir)?))),
            EncoderSpec::Onnx(file) => Ok(Box::new(self.open_onnx(file, watch)?)),
        }
    }

    pub fn open_onnx(&self, file: &Path, watch: &dyn Watch) -> Result<OnnxEncoder> {
        let scene = self.scene.as_deref().ok_or_else(|| no_scene(file))?;
        let settings = OnnxSettings {
            file: file.to_owned(),
            scene: scene.to_owned(),
            map: self.map.clone(),
            preprocessing: self.preprocessing(),
        };
        let encoder = OnnxEncoder::open(&settings)?;
        encoder.notes().iter().for_each(|note| watch.on(Event::Note(note)));
        Ok(encoder)
    }

    pub fn preprocessing(&self) -> Preprocessing {
        let usual = Preprocessing::default();
        Preprocessing {
            mean: self.onnx_mean.unwrap_or(usual.mean),
            std: self.onnx_std.unwrap_or(usual.std),
            layout: self.onnx_layout,
        }
    }

    /// Refuses options that have no effect on an encoder.
    pub fn check(&self, spec: &EncoderSpec) -> Result<()> {
        let is_onnx = matches!(spec, EncoderSpec::Onnx(_));
        if self.weights.is_some() && *spec != EncoderSpec::Vgg16 {
            bail!(Settings, "--weights is for vgg16; `{}` has its own", spec.kind());
        }
        if self.scene.is_some() && !is_onnx {
            bail!(
                Settings,
                "--scene names a node of an ONNX model; `{}` has no choice of nodes",
                spec.kind()
            );
        }
        if self.map.is_some() && !is_onnx {
            bail!(Settings, "--map names a node of an ONNX model; `{}` has no choice of nodes", spec.kind());
        }
        let says_input = self.onnx_mean.is_some() || self.onnx_std.is_some() || self.onnx_layout.is_some();
        if says_input && !is_onnx {
            bail!(
                Settings,
                "--onnx-mean, --onnx-std and --onnx-layout are for ONNX models, not for `{}`",
                spec.kind()
            );
        }
        Ok(())
    }

    pub fn read_vgg16(&self, cache_dir: Option<&Path>) -> Result<Vgg16Weights> {
        let path = self.vgg16_file(cache_dir)?;
        if self.weights.is_some() {
            return Ok(Vgg16Weights::read(&path)?);
        }
        let weights = Vgg16Weights::read(&path).context(DAMAGED)?;
        match is_installed_vgg16(&weights) {
            true => Ok(weights),
            false => bail!(Encoder, "{DAMAGED}: {} holds other numbers", path.display()),
        }
    }

    /// The file of the weights of vgg16: the one given, or else the installed one.
    pub fn vgg16_file(&self, cache_dir: Option<&Path>) -> Result<PathBuf> {
        if let Some(file) = &self.weights {
            return Ok(file.clone());
        }
        let installed = cache_dir.map(vgg16_path).filter(|path| path.exists());
        installed.ok_or_else(|| Error::Encoder(NOT_INSTALLED.into()))
    }
}

const DAMAGED: &str =
    "the installed weights of vgg16 are damaged; `touchstream encoder install vgg16` replaces them";

const NOT_INSTALLED: &str =
    "vgg16's weights are not installed; run `touchstream encoder install vgg16`, or give --weights FILE";

fn no_scene(file: &Path) -> Error {
    Error::Encoder(format!(
        "--scene NODE must say which node of {} is the scene vector; `touchstream encoder info onnx:{0}` lists them",
        file.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Value;
    use crate::watch::Unwatched;

    #[track_caller]
    fn check_error(word: &str, options: EncoderOptions, message: &str) {
        let error = options.open(&word.parse().unwrap(), None, &Unwatched).err().unwrap();
        assert_eq!(error.text(), message);
    }

    #[test]
    fn options_of_another_encoder_are_refused() {
        let none = EncoderOptions::default;
        let weights = || EncoderOptions { weights: Some("w".into()), ..none() };
        let scene = || EncoderOptions { scene: Some("s".into()), ..none() };
        let map = || EncoderOptions { map: Some("m".into()), ..none() };
        check_error("compact", weights(), "--weights is for vgg16; `compact` has its own");
        check_error("onnx:m", weights(), "--weights is for vgg16; `onnx` has its own");
        let reason = "names a node of an ONNX model; `vgg16` has no choice of nodes";
        check_error("vgg16", scene(), &format!("--scene {reason}"));
        check_error("vgg16", map(), &format!("--map {reason}"));
        check_error(
            "onnx:m.onnx",
            map(),
            "--scene NODE must say which node of m.onnx is the scene vector; \
             `touchstream encoder info onnx:m.onnx` lists them",
        );
        check_error("vgg16", none(), NOT_INSTALLED);
        let mean = EncoderOptions { onnx_mean: Some([0.5; 3]), ..none() };
        let reason = "--onnx-mean, --onnx-std and --onnx-layout are for ONNX models, not for `compact`";
        check_error("compact", mean, reason);
        let parse_colour = |text: &str| <[f32; 3]>::read(text.as_ref(), None);
        assert_eq!(parse_colour("0.5, 0,1"), Ok([0.5, 0.0, 1.0]));
        assert!(["", "1,2", "1,2,x", "1,2,3,4", "1,2,nan"].iter().all(|word| parse_colour(word).is_err()));
    }
}
