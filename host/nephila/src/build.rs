//! `nephila build [SOURCE]`: from a source to a component, and what this host thinks of it.

use crate::cli::BuildOptions;
use crate::exit::Exit;
use crate::voice::note;
use crate::{inspect, sources};
use anyhow::{Result, bail};
use nephila_build::{Builder, Folders, Missing, Source, unpack_sdk};

/// Builds, and shows what came of it.
pub async fn build(options: &BuildOptions) -> Result<Exit> {
    let source = Source::find(&options.source)?;
    if options.update_sdk {
        let Some(sdk) = source.own_sdk() else {
            bail!(
                "--update-sdk is for a project with a folder sdk, which `nephila new` makes; {} has none",
                source.folder.display()
            );
        };
        unpack_sdk(&sdk, source.language)?;
        note!("{} is now this nephila's", sdk.display());
    }
    sources::note_old_sdk(&source);
    let out = options.output.clone().unwrap_or_else(|| source.folder.join(format!("{}.wasm", source.name)));
    let missing = if options.install { Missing::Install } else { Missing::Say };
    let builder = Builder::new(Folders::of_user()?, missing);
    let built = sources::blocking(move || Ok(builder.build(&source, &out)?)).await?;
    inspect::show(&built.component).await
}
