//! `state`: `use_state`. What it means is in `state_view.rs`.

use crate::bindings::nephila::crawler::state;
use crate::fault::Fault;
use crate::names;
use crate::sandbox::Inside;
use nephila_model::StateOp;

impl state::Host for Inside {
    async fn get(&mut self, key: String) -> Result<Option<String>, Fault> {
        names::key("state", &key, self.limits.key_length)?;
        self.state_value(&key).await
    }

    async fn keys(&mut self) -> Result<Vec<String>, Fault> {
        let present = self.present()?;
        if let Some(keys) = present.state.listing() {
            return Ok(keys);
        }
        let (reads, most) = (present.call.reads.clone(), present.call.settings.limits.state_keys);
        let (keys, version) = self.wait(reads.state_keys()).await?;
        if keys.len() > most {
            return Err(Fault::quota(format!("the state has {} keys, and a call may list {most}", keys.len())));
        }
        let state = &mut self.present()?.state;
        state.read_listing(keys, version);
        Ok(state.listing().unwrap_or_default())
    }

    fn set(&mut self, key: String, value: String) -> Result<(), Fault> {
        self.operate(StateOp::Set { key, value })
    }

    fn remove(&mut self, key: String) -> Result<(), Fault> {
        self.operate(StateOp::Remove { key })
    }

    fn increment(&mut self, key: String, by: i32) -> Result<(), Fault> {
        self.operate(StateOp::Increment { key, by: i64::from(by) })
    }

    fn append(&mut self, key: String, value: String) -> Result<(), Fault> {
        self.operate(StateOp::Append { key, value })
    }

    fn max(&mut self, key: String, value: f64) -> Result<(), Fault> {
        self.operate(StateOp::Max { key, value })
    }
}

impl Inside {
    /// The value of a key, which may be one that a plugin cannot name.
    pub(super) async fn state_value(&mut self, key: &str) -> Result<Option<String>, Fault> {
        let present = self.present()?;
        if let Some(value) = present.state.known(key) {
            return Ok(value);
        }
        present.state.may_read()?;
        let reads = present.call.reads.clone();
        let (value, version) = self.wait(reads.state_get(key)).await?;
        self.present()?.state.read(key, value, version)
    }

    fn operate(&mut self, op: StateOp) -> Result<(), Fault> {
        names::key("state", op.key(), self.limits.key_length)?;
        self.operate_on(op)
    }

    /// The same with a key that a plugin cannot name.
    pub(super) fn operate_on(&mut self, op: StateOp) -> Result<(), Fault> {
        self.check_time()?;
        let present = self.present()?;
        let value = match &op {
            StateOp::Set { value, .. } | StateOp::Append { value, .. } => value.len(),
            StateOp::Remove { .. } | StateOp::Increment { .. } | StateOp::Max { .. } => 0,
        };
        present.draft.pay(value + op.key().len() + 64)?;
        present.state.operate(op)
    }
}
