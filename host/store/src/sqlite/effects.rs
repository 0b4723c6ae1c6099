//! The effects of a plugin's call, as rows. Part of the commit of its outcome.

use super::commit::{Change, Commit};
use super::datasets::{self, Origin};
use super::known::Recall;
use super::requests::Seen;
use super::trouble::Done;
use super::{crawls, events, key_values, requests, sessions, state};
use nephila_model::{Applied, Counter, DatasetName, Effects, NewRequest, RequestId};

impl Commit<'_> {
    /// Writes what a call asks for: requests, items, key-value pairs, state, and what it says about its crawl.
    pub(super) fn effects(
        &mut self,
        effects: &Effects,
        origin: Origin<'_>,
        state: &state::Plan,
        change: &mut Change,
        applied: &mut Applied,
    ) -> Done<()> {
        for new in &effects.requests {
            self.accept(new, change, applied)?;
        }
        for (dataset, count) in datasets::push(self.connection, self.crawl.id, origin, &effects.items)? {
            let pushed = u64::try_from(count).unwrap_or(0);
            applied.items += pushed;
            match dataset {
                DatasetName::Default => {
                    applied.default_items += pushed;
                    change.items += pushed;
                    change.stats.add(Counter::Items, count);
                }
                DatasetName::Named(name) => change.stats.add(Counter::ItemsOf(name.clone()), count),
            }
        }
        for added in &effects.sessions {
            sessions::add(self.connection, added)?;
            applied.sessions.push((*added.record).clone());
        }
        applied.events = events::emit(self.connection, self.crawl.id, &effects.events, self.now)?;
        key_values::write(self.connection, self.crawl.id, &effects.key_values)?;
        state.write(self.connection, &self.crawl.crawler_id)?;
        crawls::say(self.connection, self.crawl.id, effects.status_message.as_deref(), effects.stop.as_deref())
    }

    fn accept(&mut self, new: &NewRequest, change: &mut Change, applied: &mut Applied) -> Done<()> {
        if self.was_accepted(new, change, applied)? {
            return Ok(());
        }
        let site = self.notes.sites.row(self.connection, self.crawl.id, &new.site)?;
        let id = RequestId(self.last_id + change.accepted + 1);
        let request = requests::insert(self.connection, (self.crawl.id, self.crawl.order), id, site, new)?;
        self.fresh.insert(new.unique_key);
        change.fresh.push(new.unique_key);
        change.learn(self.crawl.id, new.unique_key, new.depth);
        change.accepted += 1;
        change.touched.gained(site, new.priority);
        change.stats.add(Counter::Requests, 1);
        applied.accepted.push(request);
        Ok(())
    }

    /// Whether the key was accepted before (S1). If its request waits, it keeps the lesser depth.
    fn was_accepted(&self, new: &NewRequest, change: &mut Change, applied: &mut Applied) -> Done<bool> {
        let crawl = self.crawl.id;
        match self.notes.known.recall_one(crawl, &new.unique_key) {
            // Its row is as shallow already, or waits no more.
            Recall::Known(Some(depth)) if depth <= new.depth => return Ok(true),
            Recall::Never if !self.fresh.contains(&new.unique_key) => return Ok(false),
            _ => {}
        }
        match requests::seen(self.connection, crawl, &new.unique_key, new.depth)? {
            Seen::Never => return Ok(false),
            Seen::Before(depth) => change.learn(crawl, new.unique_key, depth),
            Seen::Shallower(shallower) => {
                change.learn(crawl, new.unique_key, shallower.depth);
                // One that this outcome accepted itself is told as it is now.
                let own = usize::try_from(shallower.request.0 - self.last_id - 1).ok();
                match own.and_then(|at| applied.accepted.get_mut(at)) {
                    Some(accepted) => accepted.depth = shallower.depth,
                    None => applied.shallower.push(shallower),
                }
            }
        }
        Ok(true)
    }
}
