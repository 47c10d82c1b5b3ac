//! Durations and sizes as text.

use std::time::Duration;

use gleaner::config::{DurationText, SizeText};

#[test]
fn durations_are_read_exactly() {
    for (text, millis) in [
        ("800ms", 800),
        ("4s", 4_000),
        ("4.5s", 4_500),
        (" 10m ", 600_000),
        ("6h", 21_600_000),
        ("7d", 604_800_000),
        ("1h30m", 5_400_000),
        ("1m2s3ms", 62_003),
        ("0s", 0),
        ("0.25h", 900_000),
    ] {
        assert_eq!(text.parse::<DurationText>().unwrap().get(), Duration::from_millis(millis), "{text}");
    }
    assert_eq!("0.5ms".parse::<DurationText>().unwrap().get(), Duration::from_micros(500));
}

#[test]
fn what_is_no_duration_is_refused() {
    for text in [
        "",
        " ",
        "s",
        "4",
        "4.5",
        ".",
        ".s",
        "4.s",
        ".5s",
        "1.2.3s",
        "-4s",
        "4 s",
        "4S",
        "4sec",
        "4s4s",
        "1s1m",
        "4s ms",
        "1e3s",
        "99999999999999999999d",
        "1000000d",
        "4µs",
        "٤s",
        "4s\n5",
    ] {
        assert!(text.parse::<DurationText>().is_err(), "{text}");
    }
}

#[test]
fn a_duration_is_written_as_it_can_be_read() {
    for text in ["800ms", "4s", "2500ms", "75s", "5m", "6h", "7d", "0s", "90m", "0.0005s"] {
        let read: DurationText = text.parse().unwrap();
        assert_eq!(read.to_string(), text);
    }
}

#[test]
fn sizes_are_read_and_written() {
    for (text, bytes) in
        [("512B", 512), ("64KiB", 65_536), ("2 MiB", 2 << 20), ("1GiB", 1 << 30), ("3kB", 3_000), ("0B", 0)]
    {
        let size: SizeText = text.parse().unwrap();
        assert_eq!(size.bytes(), bytes, "{text}");
        assert_eq!(size.to_string().parse::<SizeText>().unwrap(), size);
    }
    for text in ["", "5", "KiB", "5X", "-5B", "1.5MiB", "99999999999999999999B", "99999999999999GiB", "5KiBB"]
    {
        assert!(text.parse::<SizeText>().is_err(), "{text}");
    }
}
