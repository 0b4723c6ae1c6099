//! What the controller decides, and why.

use std::fmt::{Display, Formatter};

/// How many requests may be in flight from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// At most so many. Those that are in flight already are let end.
    pub concurrency: usize,
    /// Why it is what it is: the reason of its last change.
    pub reason: Reason,
}

/// Why the concurrency is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It is where it started: the most that is allowed, or what memory bears for certain.
    Start,
    /// More, since memory has room.
    WarmingUp,
    /// Memory is over its limit.
    MemoryOver,
    /// Memory is about to run out.
    MemoryCritical,
    /// The storage refuses for overload.
    ClientErrors,
    /// On trial: whether fewer do as much.
    TryingFewer,
    /// On trial: whether more do more.
    TryingMore,
    /// Fewer did as much, and sooner.
    FewerDoAsMuch,
    /// More did more.
    MoreDoMore,
    /// Back from a trial: fewer did less.
    FewerDoLess,
    /// Back from a trial: more did no more.
    MoreDoNoMore,
    /// Back from a trial that said nothing: there was too little to do, or it varied too much.
    TrialUnclear,
}

impl Reason {
    /// A word for logs.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::WarmingUp => "warming-up",
            Self::MemoryOver => "memory-over",
            Self::MemoryCritical => "memory-critical",
            Self::ClientErrors => "client-errors",
            Self::TryingFewer => "trying-fewer",
            Self::TryingMore => "trying-more",
            Self::FewerDoAsMuch => "fewer-do-as-much",
            Self::MoreDoMore => "more-do-more",
            Self::FewerDoLess => "fewer-do-less",
            Self::MoreDoNoMore => "more-do-no-more",
            Self::TrialUnclear => "trial-unclear",
        }
    }
}

/// For people.
impl Display for Reason {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Start => "as many as allowed, or as memory bears for certain",
            Self::WarmingUp => "memory has room for more",
            Self::MemoryOver => "memory is over its limit",
            Self::MemoryCritical => "memory is about to run out",
            Self::ClientErrors => "the storage is overloaded",
            Self::TryingFewer => "trying whether fewer do as much",
            Self::TryingMore => "trying whether more do more",
            Self::FewerDoAsMuch => "fewer did as much",
            Self::MoreDoMore => "more did more",
            Self::FewerDoLess => "fewer did less",
            Self::MoreDoNoMore => "more did no more",
            Self::TrialUnclear => "a trial was unclear",
        })
    }
}
