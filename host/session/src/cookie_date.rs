//! Dates in cookies: the algorithm of RFC 6265, section 5.1.1.
//!
//! Decision: the RFC's own algorithm, which finds a time, a day, a month and a year among whatever else is there, since servers write
//! `Expires` in dozens of ways and browsers read them all. Libraries know a handful of formats and would make a session cookie of
//! the rest, that is, keep what a site wants gone.

use jiff::civil::DateTime;
use nephila_model::Timestamp;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The point in time that an `Expires` attribute names; `None` if it names none, and the attribute is to be ignored.
pub fn parse(text: &str) -> Option<Timestamp> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none() && put(&mut time, clock(token)) {
            continue;
        }
        if day.is_none() && put(&mut day, number(token, 1, 2)) {
            continue;
        }
        if month.is_none() && put(&mut month, month_of(token)) {
            continue;
        }
        if year.is_none() {
            year = number(token, 2, 4);
        }
    }
    let (hour, minute, second) = time?;
    let year = match year? {
        year @ 70..=99 => year + 1_900,
        year @ 0..=69 => year + 2_000,
        year => year,
    };
    if year < 1_601 {
        return None;
    }
    let small = |number: i16| i8::try_from(number).ok();
    // It knows which days and which times there are.
    let found = DateTime::new(year, month?, small(day?)?, small(hour)?, small(minute)?, small(second)?, 0).ok()?;
    let since = found.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
    i64::try_from(since.as_millis()).ok().map(Timestamp::from_millis)
}

fn put<T>(place: &mut Option<T>, found: Option<T>) -> bool {
    *place = found;
    place.is_some()
}

const fn is_delimiter(c: char) -> bool {
    matches!(c, '\t' | ' '..='/' | ';'..='@' | '['..='`' | '{'..='~')
}

// So many digits at the front, and then none.
fn leading(text: &str, least: usize, most: usize) -> Option<(i16, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    if (least..=most).contains(&digits) { Some((number.parse().ok()?, rest)) } else { None }
}

fn number(token: &str, least: usize, most: usize) -> Option<i16> {
    leading(token, least, most).map(|(number, _)| number)
}

fn clock(token: &str) -> Option<(i16, i16, i16)> {
    let (hour, rest) = leading(token, 1, 2)?;
    let (minute, rest) = leading(rest.strip_prefix(':')?, 1, 2)?;
    let (second, _) = leading(rest.strip_prefix(':')?, 1, 2)?;
    Some((hour, minute, second))
}

fn month_of(token: &str) -> Option<i8> {
    let start = token.get(..3)?;
    let at = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(start))?;
    i8::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_every_dress() {
        // 2019-08-07 08:04:19 UTC.
        let expected = Some(Timestamp::from_millis(1_565_165_059_000));
        for text in [
            "Wed, 07 Aug 2019 08:04:19 GMT",
            "Wednesday, 07-Aug-19 08:04:19 GMT",
            "Wed Aug  7 08:04:19 2019",
            "Wed, 07-Aug-2019 08:04:19 UTC",
            "7 August 2019 8:4:19",
            "08:04:19 2019 aug 7",
            "Aug 07 2019 08:04:19 and more;",
            "\"Wed, 07 AUG 2019 08:04:19 GMT\"",
            "Wed, 07 Aug 2019 08:04:19 +0200",
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn two_digits_of_a_year_are_of_1970_to_2069() {
        let year = |text: &str| parse(&format!("01 Jan {text} 00:00:00")).map(|time| time.as_millis() / 86_400_000 / 365 + 1_970);
        assert_eq!((year("70"), year("69"), year("00")), (Some(1_970), Some(2_069), Some(2_000)));
    }

    #[test]
    fn the_end_of_the_calendar_is_a_date() {
        assert_eq!(parse("Fri, 31 Dec 9999 23:59:59 GMT"), Some(Timestamp::from_millis(253_402_300_799_000)));
        assert_eq!(parse("Thu, 01 Jan 1970 00:00:00 GMT"), Some(Timestamp::EPOCH));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "tomorrow",
            "Wed, 07 Aug 2019",
            "07 Aug 2019 24:00:00",
            "07 Aug 2019 08:60:00",
            "31 Feb 2019 08:04:19",
            "00 Aug 2019 08:04:19",
            "07 Aug 1600 08:04:19",
            "07 Aug 12019 08:04:19",
            "07 Aug 2019 008:04:19",
            "07 Äug 2019 08:04:19",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
