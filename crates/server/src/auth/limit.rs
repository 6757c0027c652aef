//! How often somebody may be wrong.
//!
//! Owns the counts of wrong tries, one for everybody and one for each address. Pure: time comes in. Invariants: who has not
//! been wrong is never held back; what is remembered is bounded.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::clock::SECOND;

/// So many wrong tries at once, then one in so long: from one address, and from all together.
const ADDRESS: Rate = Rate {
    burst: 20,
    refill: 3 * SECOND,
};
const ALL: Rate = Rate {
    burst: 200,
    refill: SECOND / 5,
};

/// Addresses that are remembered. One beyond takes the place of the one whose last try is longest ago.
const MOST_ADDRESSES: usize = 1_024;

/// How fast tries come back.
#[derive(Debug, Clone, Copy)]
struct Rate {
    burst: u64,
    refill: u64,
}

/// Wrong tries, as the moment at which all of them are forgotten.
#[derive(Debug, Clone, Copy, Default)]
struct Debt(u64);

impl Debt {
    /// One more.
    fn add(&mut self, rate: Rate, now: u64) {
        let most = now + rate.burst * rate.refill;
        self.0 = (self.0.max(now) + rate.refill).min(most);
    }

    /// How long until another try is heard, in microseconds. 0: now.
    fn wait(self, rate: Rate, now: u64) -> u64 {
        let free = now + (rate.burst - 1) * rate.refill;
        self.0.saturating_sub(free)
    }
}

/// Wrong tries of late.
#[derive(Debug, Default)]
pub(super) struct Limiter {
    all: Debt,
    addresses: HashMap<IpAddr, Debt>,
}

impl Limiter {
    /// How long `from` has to wait until it is heard again, in microseconds. 0 for one that was not wrong of late.
    pub(super) fn wait(&self, from: Option<IpAddr>, now: u64) -> u64 {
        let own = from.and_then(|from| self.addresses.get(&network(from)));
        match own {
            Some(own) if own.0 > now => own.wait(ADDRESS, now).max(self.all.wait(ALL, now)),
            _ => 0,
        }
    }

    /// Somebody was wrong.
    pub(super) fn wrong(&mut self, from: Option<IpAddr>, now: u64) {
        self.all.add(ALL, now);
        let Some(from) = from.map(network) else {
            return;
        };
        if self.addresses.len() >= MOST_ADDRESSES && !self.addresses.contains_key(&from) {
            self.addresses.retain(|_, debt| debt.0 > now);
            if self.addresses.len() >= MOST_ADDRESSES {
                let oldest = self.addresses.iter().min_by_key(|(_, debt)| debt.0);
                if let Some(oldest) = oldest.map(|(address, _)| *address) {
                    self.addresses.remove(&oldest);
                }
            }
        }
        self.addresses.entry(from).or_default().add(ADDRESS, now);
    }
}

/// One home has many addresses of IPv6: its network counts as one.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => IpAddr::V4(four),
            None => IpAddr::V6((six.to_bits() >> 64 << 64).into()),
        },
        four => four,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000 * SECOND;

    fn address(last: u32) -> Option<IpAddr> {
        Some(IpAddr::from(last.to_be_bytes()))
    }

    #[test]
    fn who_is_wrong_too_often_waits_and_is_heard_again() {
        let mut limiter = Limiter::default();
        for _ in 0..ADDRESS.burst {
            assert_eq!(limiter.wait(address(1), NOW), 0);
            limiter.wrong(address(1), NOW);
        }
        let wait = limiter.wait(address(1), NOW);
        assert_eq!(wait, ADDRESS.refill);
        assert_eq!(limiter.wait(address(1), NOW + wait), 0);
        // Tries while it waits do not make it wait longer than for one.
        for _ in 0..100 {
            limiter.wrong(address(1), NOW);
        }
        assert_eq!(limiter.wait(address(1), NOW), ADDRESS.refill);
    }

    #[test]
    fn who_was_not_wrong_does_not_wait_for_others() {
        let mut limiter = Limiter::default();
        for from in 0..5_000 {
            limiter.wrong(address(from), NOW);
        }
        assert!(limiter.wait(address(4_999), NOW) > 0, "all together");
        assert_eq!(limiter.wait(address(5_001), NOW), 0);
        assert_eq!(limiter.wait(None, NOW), 0);
        assert!(limiter.addresses.len() <= MOST_ADDRESSES);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one() {
        let mut limiter = Limiter::default();
        for last in 0..ADDRESS.burst {
            let from = format!("2001:db8::{last:x}").parse().ok();
            limiter.wrong(from, NOW);
        }
        assert!(limiter.wait("2001:db8::ffff".parse().ok(), NOW) > 0);
        assert_eq!(limiter.wait("2001:db8:1::1".parse().ok(), NOW), 0);
        assert_eq!(
            network("::ffff:1.2.3.4".parse().unwrap()),
            address(0x0102_0304).unwrap()
        );
    }
}
