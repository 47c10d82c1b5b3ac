//! How long a server asks us to wait.

use std::time::{Duration, UNIX_EPOCH};

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};

/// Above this a number of seconds is a moment: seconds since 1970.
const EPOCH: f64 = 1e9;

/// Reads `Retry-After` (seconds, or a date against the answer's own `Date`), else `RateLimit-Reset`, else the reset of
/// `RateLimit`. Nothing, zero, the past and what cannot be read are `None` (`pool.md` R9).
pub(super) fn asked_for(headers: &HeaderMap, unix_seconds: i64) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let now = text(DATE.as_str()).and_then(unix).unwrap_or(unix_seconds as f64);
    let retry_after =
        text(RETRY_AFTER.as_str()).and_then(|value| seconds(value, now).or_else(|| Some(unix(value)? - now)));
    let wait = retry_after
        .or_else(|| seconds(text("ratelimit-reset")?, now))
        .or_else(|| seconds(reset(text("ratelimit")?)?, now))?;
    // A year is beyond every cap there is; it keeps the conversion safe.
    (wait > 0.0).then(|| Duration::from_secs_f64(wait.min(365.0 * 86_400.0)))
}

fn seconds(value: &str, now: f64) -> Option<f64> {
    let number: f64 = value.parse().ok().filter(|number: &f64| number.is_finite())?;
    Some(if number > EPOCH { number - now } else { number })
}

fn unix(date: &str) -> Option<f64> {
    let time = httpdate::parse_http_date(date).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs_f64())
}

/// The reset part of `limit=10, remaining=0, reset=5` or `"default";r=0;t=5`.
fn reset(value: &str) -> Option<&str> {
    value
        .split([',', ';'])
        .map(str::trim)
        .find_map(|part| part.strip_prefix("reset=").or(part.strip_prefix("t=")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(pairs: &[(&'static str, &'static str)]) -> Option<f64> {
        let headers = pairs.iter().map(|&(name, value)| {
            (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
        });
        asked_for(&headers.collect(), 1_790_000_000).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn every_form_of_wait_is_read() {
        for (headers, wait) in [
            (&[("retry-after", "120")][..], Some(120.0)),
            (&[("retry-after", " 1.5 ")], Some(1.5)),
            (
                &[
                    ("retry-after", "Mon, 30 Nov 2026 05:00:30 GMT"),
                    ("date", "Mon, 30 Nov 2026 05:00:00 GMT"),
                ],
                Some(30.0),
            ),
            (&[("retry-after", "Mon, 21 Sep 2026 14:13:25 GMT")], Some(5.0)),
            (&[("ratelimit-reset", "7")], Some(7.0)),
            (&[("ratelimit-reset", "1790000009")], Some(9.0)),
            (&[("ratelimit", "limit=10, remaining=0, reset=5")], Some(5.0)),
            (&[("ratelimit", "\"default\";r=0;t=6")], Some(6.0)),
            (&[("retry-after", "3"), ("ratelimit-reset", "9")], Some(3.0)),
            (&[("retry-after", "soon"), ("ratelimit-reset", "9")], Some(9.0)),
        ] {
            assert_eq!(asked(headers), wait, "{headers:?}");
        }
    }

    #[test]
    fn no_usable_wait_is_none() {
        for headers in [
            &[][..],
            &[("retry-after", "0")],
            &[("retry-after", "-5")],
            &[("retry-after", "NaN")],
            &[("retry-after", "soon")],
            &[("retry-after", "Mon, 30 Nov 2020 05:00:30 GMT")],
            &[("ratelimit", "nothing")],
        ] {
            assert_eq!(asked(headers), None, "{headers:?}");
        }
    }
}
