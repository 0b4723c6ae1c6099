//! Which addresses a web page may not lead to.
//!
//! Decision: allowed is what IANA's registries call globally reachable unicast; everything else is refused, together with all IPv6
//! forms that carry an IPv4 address, since each has been a way around some filter. The one exception is NAT64 (`64:ff9b::/96`): on a
//! network that has IPv6 only, *every* IPv4 site has such an address, so the address inside is judged. The price: a site that is
//! reachable by 6to4 or Teredo alone cannot be crawled.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is wrong with an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of IANA's special-purpose address registries")]
pub enum Refusal {
    Unspecified,
    Loopback,
    Private,
    LinkLocal,
    CarrierGrade,
    Multicast,
    Broadcast,
    Documentation,
    Benchmark,
    Mapped,
    Compatible,
    Translated,
    SixToFour,
    Teredo,
    Reserved,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "an unspecified address",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::LinkLocal => "a link-local address",
            Self::CarrierGrade => "a carrier-grade NAT address",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "the broadcast address",
            Self::Documentation => "a documentation address",
            Self::Benchmark => "a benchmarking address",
            Self::Mapped => "an IPv4-mapped address",
            Self::Compatible => "an IPv4-compatible address",
            Self::Translated => "a local IPv4 translation address",
            Self::SixToFour => "a 6to4 address",
            Self::Teredo => "a Teredo address",
            Self::Reserved => "a reserved address",
        })
    }
}

// (network, prefix length, what it is); the first that holds the address counts.
const V4: &[(Ipv4Addr, u32, Refusal)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, Refusal::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Refusal::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Refusal::CarrierGrade),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Refusal::Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Refusal::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Refusal::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Refusal::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Refusal::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Refusal::SixToFour),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Refusal::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Refusal::Benchmark),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Refusal::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Refusal::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Refusal::Multicast),
    (Ipv4Addr::new(255, 255, 255, 255), 32, Refusal::Broadcast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Refusal::Reserved),
];

const V6: &[(Ipv6Addr, u32, Refusal)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, Refusal::Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Refusal::Loopback),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, Refusal::Mapped),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, Refusal::Translated),
    (Ipv6Addr::UNSPECIFIED, 96, Refusal::Compatible),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, Refusal::Translated),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, Refusal::Teredo),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, Refusal::Benchmark),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Refusal::Reserved),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Refusal::Documentation),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Refusal::SixToFour),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Refusal::Documentation),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Refusal::Private),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, Refusal::LinkLocal),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, Refusal::Private),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, Refusal::Multicast),
];

const NAT64: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);
const GLOBAL_UNICAST: Ipv6Addr = Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0);

/// What is wrong with contacting an address; `None` for an ordinary address of the Internet.
#[must_use]
pub fn verdict(ip: IpAddr) -> Option<Refusal> {
    match ip {
        IpAddr::V4(ip) => V4.iter().find(|(network, length, _)| within_v4(ip, *network, *length)).map(|(_, _, refusal)| *refusal),
        IpAddr::V6(ip) if within_v6(ip, NAT64, 96) => {
            let [.., a, b, c, d] = ip.octets();
            verdict(IpAddr::from([a, b, c, d]))
        }
        IpAddr::V6(ip) => {
            let named = V6.iter().find(|(network, length, _)| within_v6(ip, *network, *length)).map(|(_, _, refusal)| *refusal);
            named.or_else(|| (!within_v6(ip, GLOBAL_UNICAST, 3)).then_some(Refusal::Reserved))
        }
    }
}

fn within_v4(ip: Ipv4Addr, network: Ipv4Addr, length: u32) -> bool {
    (ip.to_bits() ^ network.to_bits()).leading_zeros() >= length
}

fn within_v6(ip: Ipv6Addr, network: Ipv6Addr, length: u32) -> bool {
    (ip.to_bits() ^ network.to_bits()).leading_zeros() >= length
}

#[cfg(test)]
mod tests {
    use super::Refusal::*;
    use super::*;
    use url::{Host, Url};

    // As an attacker writes them; the parser folds them into addresses, and it is these that are judged.
    #[rustfmt::skip]
    const REFUSED: &[(&str, Refusal)] = &[
        ("0.0.0.0", Unspecified), ("0", Unspecified), ("0x0", Unspecified), ("0.1.2.3", Unspecified), ("00.0", Unspecified),
        ("10.0.0.1", Private), ("10.255.255.255", Private), ("0xa.1", Private), ("012.1", Private), ("167772161", Private),
        ("172.16.0.1", Private), ("172.31.255.255", Private), ("0xac100001", Private), ("172.16.1", Private),
        ("192.168.0.1", Private), ("192.168.257", Private), ("0xc0.0xa8.0x0.0x1", Private), ("0300.0250.0.1", Private), ("3232235521", Private),
        ("100.64.0.1", CarrierGrade), ("100.127.255.255", CarrierGrade),
        ("127.0.0.1", Loopback), ("127.1", Loopback), ("127.0.1", Loopback), ("2130706433", Loopback), ("0x7f000001", Loopback),
        ("0x7f.1", Loopback), ("0177.0.0.1", Loopback), ("017700000001", Loopback), ("127.255.255.254", Loopback), ("127.0.0.1.", Loopback),
        ("0x7F.0.0x0.01", Loopback), ("%31%32%37.0.0.1", Loopback), ("１２７.０.０.１", Loopback), ("127。0。0。1", Loopback), ("⑫7.1", Loopback),
        ("user:secret@127.0.0.1", Loopback), ("example.com@127.1", Loopback), ("%30x7f.1", Loopback),
        ("169.254.169.254", LinkLocal), ("2852039166", LinkLocal), ("0xa9fea9fe", LinkLocal), ("0251.0376.0251.0376", LinkLocal), ("169.254.43518", LinkLocal),
        ("192.0.0.8", Reserved), ("192.0.0.170", Reserved), ("192.0.2.1", Documentation), ("198.51.100.7", Documentation), ("203.0.113.9", Documentation),
        ("192.88.99.1", SixToFour), ("198.18.0.1", Benchmark), ("198.19.255.255", Benchmark),
        ("224.0.0.1", Multicast), ("239.255.255.250", Multicast), ("240.0.0.1", Reserved), ("255.255.255.255", Broadcast), ("4294967295", Broadcast), ("037777777777", Broadcast),
        ("[::]", Unspecified), ("[0:0:0:0:0:0:0:0]", Unspecified), ("[::1]", Loopback), ("[0000:0000:0000:0000:0000:0000:0000:0001]", Loopback), ("[0::0.0.0.1]", Loopback),
        ("[::ffff:127.0.0.1]", Mapped), ("[::ffff:7f00:1]", Mapped), ("[::ffff:169.254.169.254]", Mapped), ("[::ffff:a9fe:a9fe]", Mapped),
        ("[::FFFF:0a00:0001]", Mapped), ("[0:0:0:0:0:ffff:c0a8:1]", Mapped), ("[::ffff:8.8.8.8]", Mapped), ("[::ffff:0:127.0.0.1]", Translated),
        ("[::127.0.0.1]", Compatible), ("[::7f00:1]", Compatible), ("[::10.0.0.1]", Compatible), ("[::a9fe:a9fe]", Compatible), ("[::2]", Compatible),
        ("[64:ff9b::127.0.0.1]", Loopback), ("[64:ff9b::7f00:1]", Loopback), ("[64:ff9b::a9fe:a9fe]", LinkLocal), ("[64:ff9b::10.0.0.1]", Private),
        ("[64:ff9b::0.0.0.0]", Unspecified), ("[64:ff9b:1::1]", Translated), ("[64:ff9b:0:1::1]", Reserved),
        ("[2002:7f00:1::]", SixToFour), ("[2002:c0a8:1::1]", SixToFour), ("[2002:0808:0808::1]", SixToFour),
        ("[2001::1]", Teredo), ("[2001:0:4136:e378:8000:63bf:3fff:fdd2]", Teredo), ("[2001:2::1]", Benchmark), ("[2001:10::1]", Reserved), ("[2001:20::1]", Reserved),
        ("[2001:db8::1]", Documentation), ("[3fff::1]", Documentation), ("[3fff:fff::1]", Documentation),
        ("[fc00::1]", Private), ("[fd12:3456:789a::1]", Private), ("[fd00:ec2::254]", Private), ("[fe80::1]", LinkLocal), ("[febf::1]", LinkLocal), ("[fec0::1]", Private),
        ("[ff02::1]", Multicast), ("[ff05::2]", Multicast), ("[100::1]", Reserved), ("[5f00::1]", Reserved), ("[4000::1]", Reserved), ("[1::]", Reserved),
    ];

    #[rustfmt::skip]
    const ALLOWED: &[&str] = &[
        "8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255",
        "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "134744072",
        "[2606:4700:4700::1111]", "[2001:4860:4860::8888]", "[2a00:1450::1]", "[2003::1]", "[64:ff9b::8.8.8.8]", "[3ffe::1]",
    ];

    fn parsed(host: &str) -> Option<IpAddr> {
        match Url::parse(&format!("http://{host}/")).expect(host).host()? {
            Host::Ipv4(ip) => Some(ip.into()),
            Host::Ipv6(ip) => Some(ip.into()),
            Host::Domain(_) => None,
        }
    }

    #[test]
    fn every_way_to_write_a_special_address_is_refused() {
        assert!(REFUSED.len() >= 80);
        for (host, refusal) in REFUSED {
            let ip = parsed(host).unwrap_or_else(|| panic!("{host} is a name"));
            assert_eq!(verdict(ip), Some(*refusal), "{host} is {ip}");
        }
    }

    #[test]
    fn ordinary_addresses_up_to_the_edges_of_the_special_ones_are_allowed() {
        for host in ALLOWED {
            assert_eq!(verdict(parsed(host).expect(host)), None, "{host}");
        }
    }

    #[test]
    fn zone_ids_are_no_urls_at_all() {
        for host in ["[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%lo]"] {
            assert!(Url::parse(&format!("http://{host}/")).is_err(), "{host}");
        }
    }
}
