//! Whether the system is overloaded, and by what. Crawlee: `SystemStatus`.

use std::fmt::{Display, Formatter};

/// How much of a window one resource was overloaded, and how much of it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// From 0 to 1. Crawlee: `actual_ratio`.
    pub overloaded: f64,
    /// From 0 to 1. Crawlee: `limit_ratio`.
    pub tolerated: f64,
}

impl Share {
    /// Whether it was overloaded for more of the time than is tolerated.
    #[must_use]
    pub fn is_over(self) -> bool {
        self.overloaded > self.tolerated
    }
}

/// The state of all resources over one window. Crawlee: `SystemInfo` of its autoscaling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SystemStatus {
    /// Processors.
    pub cpu: Share,
    /// Memory.
    pub memory: Share,
    /// The event loop, which is tokio's scheduler.
    pub event_loop: Share,
    /// The storage's client.
    pub client: Share,
}

impl SystemStatus {
    /// Whether no resource is over its limit. Crawlee: `is_system_idle`.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.parts().iter().all(|(_, share)| !share.is_over())
    }

    /// Whether what serves pages has more to do than it can: processors, or the event loop.
    #[must_use]
    pub fn is_strained(&self) -> bool {
        self.cpu.is_over() || self.event_loop.is_over()
    }

    fn parts(&self) -> [(&'static str, Share); 4] {
        [("memory", self.memory), ("event loop", self.event_loop), ("cpu", self.cpu), ("client", self.client)]
    }
}

/// For people: `idle`, or what is overloaded and how much of the time.
impl Display for SystemStatus {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let mut separator = "overloaded: ";
        for (name, share) in self.parts().iter().filter(|(_, share)| share.is_over()) {
            write!(out, "{separator}{name} {:.0} % of the time", share.overloaded * 100.0)?;
            separator = ", ";
        }
        if self.is_idle() { out.write_str("idle") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tolerated_is_not_overload() {
        let fine = Share { overloaded: 0.4, tolerated: 0.4 };
        let mut status = SystemStatus { cpu: fine, memory: fine, event_loop: fine, client: fine };
        assert!(status.is_idle() && !status.is_strained());
        assert_eq!(status.to_string(), "idle");
        status.cpu.overloaded = 0.5;
        assert!(!status.is_idle() && status.is_strained());
        status.memory.overloaded = 1.0;
        assert_eq!(status.to_string(), "overloaded: memory 100 % of the time, cpu 50 % of the time");
    }
}
