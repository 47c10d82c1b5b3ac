//! The configuration through its public face: what is read, from where, and what is said when it cannot be.

use std::time::Duration;

use gleaner::config::{
    Config, ConfigError, Cooldown, DurationOrOff, Environment, Format, InstanceUrl, ListenAddress, Loaded,
    LogFormat, Network, Overrides, Scope, load, refuse_open_listen,
};

#[test]
fn an_empty_file_is_the_defaults() {
    let loaded = from_file("");
    assert_eq!(loaded.config, Config::default());
    let config = loaded.config;
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.searxng.timeout.get(), Duration::from_secs(4));
    assert_eq!(config.searxng.max_body.bytes(), 4 << 20);
    assert_eq!(config.failover.deadline.get(), Duration::from_millis(4500));
    assert_eq!((config.searxng.attempts, config.searxng.fan_out), (3, 1));
    assert_eq!(config.pool.prior.get(), Duration::from_millis(2500));
    assert_eq!(config.pool.failure_fade, DurationOrOff::seconds(900));
    assert_eq!((config.pool.max_in_flight(false), config.pool.max_in_flight(true)), (4, 2));
}

#[test]
fn every_section_of_the_file_is_read() {
    let config = from_file(
        r#"
        listen = "[::1]:0"
        data_dir = "/var/lib/gleaner"
        public_url = "https://search.example.org/sx"
        trusted_proxies = ["10.0.0.0/8", "::1"]
        [searxng]
        instances = [
          "http://127.0.0.1:8888",
          { url = "https://sx.example/searx", format = "html", headers = { X-Token = "hush" }, max_in_flight = 1, timeout = "2.5s", public = true },
        ]
        attempts = 2
        max_body = "64KiB"
        relied_on = ["google"]
        [pool]
        min_interval = "1m30s"
        failure_fade = "off"
        off_topic = "all"
        max_in_flight = 9
        [pool.min_interval_hard]
        json = "1h"
        [failover]
        deadline = "10s"
        [results]
        number_of_results = false
        [auth]
        open = true
        [limits]
        head = "16KiB"
        [telemetry]
        log = "info,gleaner=debug"
        log_format = "json"
        "#,
    )
    .config;
    assert_eq!(config.listen.to_string(), "[::1]:0");
    assert_eq!(config.public_url.unwrap().url().as_str(), "https://search.example.org/sx/");
    assert!(config.trusted_proxies[0].contains("10.1.2.3".parse().unwrap()));
    let [own, public] = config.searxng.instances.as_slice() else { panic!("two instances") };
    assert_eq!(
        (own.url.to_string().as_str(), own.format, own.public),
        ("http://127.0.0.1:8888/", Format::Auto, false)
    );
    assert_eq!((public.format, public.max_in_flight, public.public), (Format::Html, Some(1), true));
    assert_eq!(public.timeout.unwrap().get(), Duration::from_millis(2500));
    assert_eq!(public.headers["X-Token"].expose(), "hush");
    assert_eq!(config.pool.min_interval.get(), Duration::from_secs(90));
    assert_eq!(config.pool.failure_fade.get(), None);
    assert_eq!(config.pool.off_topic, Scope::All);
    assert_eq!(config.pool.max_in_flight(true), 9);
    assert_eq!(config.pool.min_interval_hard.json.get(), Duration::from_hours(1));
    assert_eq!(config.pool.min_interval_hard.html.get(), Duration::from_secs(20));
    assert_eq!(config.limits.head.bytes(), 16 << 10);
    assert_eq!(config.telemetry.log_format, LogFormat::Json);
    assert!(config.auth.open && !config.results.number_of_results);
}

#[test]
fn an_unknown_key_is_shown_with_its_line_and_the_way_out() {
    for (text, said) in [
        (
            "[searxng]\ninstnaces = []",
            "gleaner.toml:2: unknown key `instnaces` in [searxng]; did you mean `instances`?",
        ),
        ("\n\nlisten_addr = 1", "gleaner.toml:3: unknown key `listen_addr` at the top level"),
        ("listn = 1", "gleaner.toml:1: unknown key `listn` at the top level; did you mean `listen`?"),
        ("[serxng]", "gleaner.toml:1: unknown key `serxng` at the top level; did you mean `searxng`?"),
        (
            "attempts = 2",
            "gleaner.toml:1: unknown key `attempts` at the top level; `attempts` belongs in [searxng]",
        ),
        (
            "[auth]\nlisten = ''",
            "gleaner.toml:2: unknown key `listen` in [auth]; `listen` belongs above the first [section]",
        ),
        (
            "[pool]\nsoft_strikes = 1\ncooldown_ms = 1",
            "gleaner.toml:3: unknown key `cooldown_ms` in [pool]; did you mean `cooldown`, a duration with its unit, such as \"60s\"?",
        ),
        (
            "[searxng]\ninstances = [\n 'http://a',\n { url = 'http://b', formt = 'json' },\n]",
            "gleaner.toml:4: unknown key `formt` in [searxng.instances]; did you mean `format`?",
        ),
        (
            "[[searxng.instances]]\nurl = 'http://b'\npublc = true",
            "gleaner.toml:3: unknown key `publc` in [searxng.instances]; did you mean `public`?",
        ),
        (
            "pool.cooldown_by_reason.timeot = '1s'",
            "gleaner.toml:1: unknown key `timeot` in [pool.cooldown_by_reason]; did you mean `timeout`?",
        ),
    ] {
        assert_eq!(refused(text), [said], "{text}");
    }
}

#[test]
fn every_unknown_key_is_shown_at_once_in_the_order_of_the_file() {
    let said = refused("zap = 1\n[searxng]\nfoo = 1\n[auth]\nbar = 2");
    assert_eq!(said.len(), 3);
    assert!(
        said[0].starts_with("gleaner.toml:1:")
            && said[1].starts_with("gleaner.toml:3:")
            && said[2].starts_with("gleaner.toml:5:")
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_shown_with_its_line_and_key() {
    for (text, said) in [
        (
            "[searxng]\ntimeout = 4",
            "gleaner.toml:2: `searxng.timeout`: `4` has no unit; write \"4s\" for seconds or \"4ms\" for milliseconds",
        ),
        (
            "[failover]\n\ndeadline = 4.5",
            "gleaner.toml:3: `failover.deadline`: `4.5` has no unit; write \"4.5s\" for seconds or \"4.5ms\" for milliseconds",
        ),
        (
            "[failover]\ndeadline = '4 parsecs'",
            "gleaner.toml:2: `failover.deadline`: `4 parsecs` is not a duration with a unit, such as \"800ms\", \"4s\", \"10m\", \"6h\" or \"7d\"",
        ),
        (
            "[limits]\nbody = 1024",
            "gleaner.toml:2: `limits.body`: `1024` has no unit; write \"1024B\" for bytes or \"1024KiB\"",
        ),
        (
            "[searxng]\nattempts = 'three'",
            "gleaner.toml:2: `searxng.attempts`: expected a whole number, found the text `three`",
        ),
        (
            "[searxng]\nattempts = -1",
            "gleaner.toml:2: `searxng.attempts`: expected a whole number of 0 or more, found `-1`",
        ),
        (
            "[auth]\nopen = 'yes'",
            "gleaner.toml:2: `auth.open`: expected `true` or `false`, found the text `yes`",
        ),
        (
            "listen = '127.0.0.1'",
            "gleaner.toml:1: `listen`: `127.0.0.1` is not HOST:PORT, such as \"127.0.0.1:8080\", \"[::1]:8080\" or \":8080\" for every address",
        ),
        (
            "[searxng]\ninstances = [\n  'http://a',\n  'ftp://b',\n]",
            "gleaner.toml:4: `searxng.instances`: expected an http or https URL, found the scheme `ftp`",
        ),
        (
            "[[searxng.instances]]\nurl = 'localhost:8888'",
            "gleaner.toml:2: `searxng.instances`: expected a URL such as \"http://127.0.0.1:8888\": relative URL without a base",
        ),
        (
            "[[searxng.instances]]\nformat = 'json'",
            "gleaner.toml:1: `searxng.instances`: missing field `url`",
        ),
        (
            "[pool]\nspread = 'evenly'",
            "gleaner.toml:2: `pool.spread`: unknown variant `evenly`, expected one of `idle_first`, `cost`, `score`",
        ),
        (
            "[searxng]\ninstances = [{ url = 'http://a', headers = { X-Pin = 4711 } }]",
            "gleaner.toml:2: `searxng.instances.headers.X-Pin`: expected text in quotes, found a number",
        ),
        ("[pool]\njitter = 0.2\njitter = 0.3", "gleaner.toml:3: duplicate key"),
    ] {
        assert_eq!(refused(text), [said], "{text}");
    }
}

#[test]
fn a_value_out_of_range_is_shown_with_its_line_and_the_range() {
    for (text, said) in [
        ("[searxng]\nattempts = 0", "gleaner.toml:2: `searxng.attempts` is 0, expected 1 or more"),
        ("[searxng]\nfan_out = 0", "gleaner.toml:2: `searxng.fan_out` is 0, expected 1 or more"),
        ("[searxng]\ntimeout = '0s'", "gleaner.toml:2: `searxng.timeout` is 0s, expected more than 0"),
        (
            "[pool]\n# why\njitter = 1.5",
            "gleaner.toml:3: `pool.jitter` is 1.5, expected a number from 0 to 1",
        ),
        ("[pool]\njitter = nan", "gleaner.toml:2: `pool.jitter` is NaN, expected a number from 0 to 1"),
        (
            "[pool]\newma_alpha = 0.0",
            "gleaner.toml:2: `pool.ewma_alpha` is 0, expected a number above 0 and up to 1",
        ),
        (
            "[pool]\nfailure_penalty = inf",
            "gleaner.toml:2: `pool.failure_penalty` is inf, expected 0 or more",
        ),
        (
            "[pool]\nfailure_fade = '0s'",
            "gleaner.toml:2: `pool.failure_fade` is 0s, expected more than 0, or \"off\"",
        ),
        (
            "[pool.cooldown_by_reason]\ntimeout = '0s'",
            "gleaner.toml:2: `pool.cooldown_by_reason.timeout` is 0s, expected more than 0",
        ),
        (
            "[searxng]\ninstances = [\n'http://a',\n{ url = 'http://b', timeout = '0s' } ]",
            "gleaner.toml:4: `searxng.instances.1.timeout` is 0s, expected more than 0",
        ),
        (
            "[[searxng.instances]]\nurl = 'http://a'\n[searxng.instances.headers]\n'bad name' = 'x'",
            "gleaner.toml:4: `bad name` is not the name of a header",
        ),
        ("[limits]\nhead = '10B'", "gleaner.toml:2: `limits.head` is 10B, expected \"1KiB\" or more"),
        (
            "[telemetry]\nlog = 'infoo'",
            "gleaner.toml:2: `telemetry.log` is `infoo`, expected off, error, warn, info, debug or trace, or directives such as `info,gleaner=debug`",
        ),
    ] {
        assert_eq!(refused(text), [said], "{text}");
    }
}

#[test]
fn a_range_is_blamed_on_the_layer_that_broke_it() {
    let environment = variables(&[("GLEANER__SEARXNG__ATTEMPTS", "0")]);
    let error = load_text("[searxng]\nattempts = 2", &Overrides::default(), &environment).unwrap_err();
    assert_eq!(error.to_string(), "GLEANER__SEARXNG__ATTEMPTS: `searxng.attempts` is 0, expected 1 or more");
}

#[test]
fn text_that_is_no_toml_is_shown_with_its_line() {
    let said = refused("listen = \"a:1\"\n[searxng\n");
    assert!(said[0].starts_with("gleaner.toml:2: "), "{said:?}");
}

#[test]
fn a_whole_number_stands_for_a_fraction() {
    assert!(
        (from_file("[pool]\nfailure_penalty = 2\njitter = 1").config.pool.failure_penalty - 2.0).abs() < 1e-9
    );
    let environment = variables(&[("GLEANER__POOL__JITTER", "1")]);
    assert!(
        (load_text("", &Overrides::default(), &environment).unwrap().config.pool.jitter - 1.0).abs() < 1e-9
    );
}

#[test]
fn the_environment_overrides_the_file_and_flags_override_both() {
    let file = "listen = '127.0.0.1:1'\n[searxng]\ninstances = ['http://file']\nattempts = 5\nfan_out = 2";
    let environment = variables(&[
        ("GLEANER__LISTEN", "127.0.0.1:2"),
        ("GLEANER__SEARXNG__INSTANCES", "http://env-a, http://env-b"),
        ("GLEANER__SEARXNG__ATTEMPTS", "7"),
    ]);
    let config = load_text(file, &Overrides::default(), &environment).unwrap().config;
    assert_eq!((config.listen.port(), config.searxng.attempts, config.searxng.fan_out), (2, 7, 2));
    assert_eq!(urls(&config), ["http://env-a/", "http://env-b/"]);

    let flags = Overrides {
        searxng: vec!["http://flag".to_owned()],
        listen: Some(":3".to_owned()),
        open: true,
        ..Overrides::default()
    };
    let config = load_text(file, &flags, &environment).unwrap().config;
    assert_eq!((config.listen.to_string().as_str(), config.auth.open), ("0.0.0.0:3", true));
    assert_eq!(urls(&config), ["http://flag/"]);
}

#[test]
fn a_variable_is_read_as_its_key_wants_it() {
    let environment = variables(&[
        ("GLEANER__POOL__COOLDOWN_BY_REASON__CHALLENGE", "30m"),
        ("GLEANER__POOL__KEEP_LAST", "false"),
        ("GLEANER__POOL__JITTER", "0.25"),
        ("GLEANER__POOL__SPREAD", "cost"),
        ("GLEANER__SEARXNG__RELIED_ON", r#"["google", "bing news"]"#),
        ("GLEANER__SEARXNG__INSTANCES", r#"["http://a", {"url": "http://b", "max_in_flight": 1}]"#),
        ("GLEANER__SEARXNG__MAX_BODY", "1MiB"),
        ("GLEANER__TELEMETRY__LOG", ""),
    ]);
    let config = load_text("", &Overrides::default(), &environment).unwrap().config;
    assert_eq!(config.pool.cooldowns().challenge.base, Duration::from_mins(30));
    assert!(!config.pool.keep_last);
    assert!((config.pool.jitter - 0.25).abs() < 1e-9);
    assert_eq!(config.searxng.relied_on, ["google", "bing news"]);
    assert_eq!(config.searxng.instances[1].max_in_flight, Some(1));
    assert_eq!(config.searxng.max_body.bytes(), 1 << 20);
    assert_eq!(config.telemetry.log, "info");
}

#[test]
fn what_is_wrong_in_the_environment_is_blamed_on_the_variable() {
    for (name, text, said) in [
        (
            "GLEANER__SEARXNG__TIMEOT",
            "4s",
            "GLEANER__SEARXNG__TIMEOT: there is no key `searxng.timeot`; did you mean GLEANER__SEARXNG__TIMEOUT?",
        ),
        (
            "GLEANER__SEARXNG__ATTEMPTS",
            "three",
            "GLEANER__SEARXNG__ATTEMPTS: `searxng.attempts`: expected a whole number, found the text `three`",
        ),
        (
            "GLEANER__SEARXNG__TIMEOUT",
            "4",
            "GLEANER__SEARXNG__TIMEOUT: `searxng.timeout`: `4` has no unit; write \"4s\" for seconds or \"4ms\" for milliseconds",
        ),
        (
            "GLEANER__SEARXNG__INSTANCES",
            r#"[{"url": "http://a", "pubic": true}]"#,
            "GLEANER__SEARXNG__INSTANCES: unknown key `pubic` in [searxng.instances]; did you mean `public`?",
        ),
        (
            "GLEANER_OPEN",
            "maybe",
            "GLEANER_OPEN: `auth.open`: expected `true` or `false`, found the text `maybe`",
        ),
        (
            "SEARXNG_URL",
            "searxng:8080",
            "SEARXNG_URL: `searxng.instances`: expected a URL such as \"http://127.0.0.1:8888\": relative URL without a base",
        ),
        (
            "GLEANER__POOL",
            "{\"jitter\": 0.5, \"jiter\": 1}",
            "GLEANER__POOL: unknown key `jiter` in [pool]; did you mean `jitter`?",
        ),
    ] {
        let error = load_text("", &Overrides::default(), &variables(&[(name, text)])).unwrap_err();
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn a_wrong_flag_is_blamed_on_the_flag() {
    let flags = Overrides { listen: Some("nowhere".to_owned()), ..Overrides::default() };
    let error = load_text("", &flags, &Environment::new()).unwrap_err();
    assert!(error.to_string().starts_with("--listen: `listen`: `nowhere` is not HOST:PORT"), "{error}");
}

#[test]
fn searxng_url_fills_the_instances_only_when_nothing_else_does() {
    let environment = variables(&[("SEARXNG_URL", "http://spare")]);
    let with = |file: &str| urls(&load_text(file, &Overrides::default(), &environment).unwrap().config);
    assert_eq!(with(""), ["http://spare/"]);
    assert_eq!(with("[searxng]\ninstances = []"), ["http://spare/"]);
    assert_eq!(with("[searxng]\ninstances = ['http://file']"), ["http://file/"]);
}

#[test]
fn the_names_of_searxng_gateway_are_understood() {
    let environment = variables(&[
        ("LISTEN_ADDR", ":8080"),
        ("SEARXNG_BACKEND_URL", "http://searxng:8080"),
        ("SEARXNG_TIMEOUT_SECONDS", "2.5"),
        ("LOG_LEVEL", "WARNING"),
        ("FALLBACK_PROVIDERS", "brave"),
        ("BRAVE_API_KEY", "secret"),
    ]);
    let loaded = load_text("", &Overrides::default(), &environment).unwrap();
    assert_eq!(loaded.config.listen.to_string(), "0.0.0.0:8080");
    assert_eq!(urls(&loaded.config), ["http://searxng:8080/"]);
    assert_eq!(loaded.config.searxng.timeout.get(), Duration::from_millis(2500));
    assert_eq!(loaded.config.telemetry.log, "warn");
    let ignored: Vec<_> = loaded.warnings.iter().filter(|warning| warning.contains("ignored")).collect();
    assert_eq!(ignored.len(), 1, "{ignored:?}");
    assert!(ignored[0].contains("FALLBACK_PROVIDERS") && ignored[0].contains("BRAVE_API_KEY"));
    assert!(!ignored[0].contains("secret"));

    let our_own_wins = variables(&[("LISTEN_ADDR", ":1"), ("GLEANER__LISTEN", ":2")]);
    assert_eq!(load_text("", &Overrides::default(), &our_own_wins).unwrap().config.listen.port(), 2);
}

#[test]
fn foreign_variables_are_let_alone_and_near_misses_are_named() {
    let environment = variables(&[
        ("GLEANER_SERVICE_HOST", "10.0.0.1"),
        ("GLEANER_PORT", "tcp://10.0.0.1:80"),
        ("GLEANER_SEARXNG_TIMEOUT", "3s"),
        ("LOG_LEVEL", "chatty"),
        ("SEARXNG_URL", "http://a"),
    ]);
    let warnings = load_text("", &Overrides::default(), &environment).unwrap().warnings;
    assert_eq!(
        warnings,
        [
            "LOG_LEVEL is ignored: `chatty` is no level that is known",
            "GLEANER_SEARXNG_TIMEOUT sets nothing; did you mean GLEANER__SEARXNG__TIMEOUT?",
        ]
    );
}

#[test]
fn no_instance_and_a_repeated_one_are_said() {
    assert!(from_file("").warnings[0].contains("no SearXNG instance is configured"));
    let loaded = from_file(
        "[searxng]\ninstances = ['http://a', 'http://u:pw@b', 'http://a/search', 'http://u:pw@b/']",
    );
    assert_eq!(loaded.config.searxng.instances.len(), 2);
    assert_eq!(loaded.warnings.len(), 2);
    assert!(!loaded.warnings.concat().contains("pw"), "{:?}", loaded.warnings);
}

// B10, B11
#[test]
fn the_base_of_an_instance_is_normalised() {
    for (written, base) in [
        ("http://host", "http://host/"),
        ("http://host/search", "http://host/"),
        ("http://host/search/", "http://host/"),
        ("http://host/sx/", "http://host/sx/"),
        ("https://host/searx", "https://host/searx/"),
        ("https://host/searx/search", "https://host/searx/"),
        ("https://HOST:443//", "https://host/"),
        ("http://host/research", "http://host/research/"),
    ] {
        assert_eq!(written.parse::<InstanceUrl>().unwrap().url().as_str(), base, "{written}");
    }
    for refused in [
        "",
        "host",
        "host:8080",
        "http://",
        "file:///etc",
        "http://host/?q=1",
        "http://host/#a",
        "javascript:1",
    ] {
        assert!(refused.parse::<InstanceUrl>().is_err(), "{refused}");
    }
}

// J5
#[test]
fn listening_for_others_without_keys_is_refused_unless_it_is_said_to_be_open() {
    for (listen, open, allowed) in [
        ("127.0.0.1:8080", false, true),
        ("127.9.9.9:0", false, true),
        ("[::1]:8080", false, true),
        ("[::ffff:127.0.0.1]:8080", false, true),
        ("localhost:8080", false, true),
        (":8080", false, false),
        ("0.0.0.0:8080", false, false),
        ("[::]:8080", false, false),
        ("192.168.1.4:8080", false, false),
        ("gleaner.example:8080", false, false),
        ("localhost.example:8080", false, false),
        ("0.0.0.0:8080", true, true),
        ("[::]:8080", true, true),
    ] {
        let config = from_file(&format!("listen = '{listen}'\nauth.open = {open}")).config;
        assert_eq!(refuse_open_listen(&config).is_ok(), allowed, "{listen} {open}");
    }
    let said = refuse_open_listen(&from_file("listen = ':9000'").config).unwrap_err().to_string();
    for way_out in
        ["0.0.0.0:9000", "`open = true` under `[auth]`", "GLEANER_OPEN=true", "--open", "127.0.0.1:9000"]
    {
        assert!(said.contains(way_out), "{said}");
    }
}

#[test]
fn addresses_to_listen_on_are_checked() {
    for refused in [
        "",
        "8080",
        "host",
        "host:",
        "host:x",
        "host:70000",
        "host:+80",
        "::1:80",
        "[::1]80",
        "[x]:1",
        "a b:1",
        "http://a:1",
    ] {
        assert!(refused.parse::<ListenAddress>().is_err(), "{refused}");
    }
}

#[test]
fn a_net_holds_its_addresses() {
    for (net, address, held) in [
        ("10.0.0.0/8", "10.255.0.1", true),
        ("10.0.0.0/8", "11.0.0.1", false),
        ("10.0.0.0/8", "::ffff:10.0.0.1", true),
        ("0.0.0.0/0", "1.2.3.4", true),
        ("0.0.0.0/0", "::1", false),
        ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false),
        ("fd00::/8", "fdff::1", true),
        ("::/0", "fdff::1", true),
    ] {
        let parsed: Network = net.parse().unwrap();
        assert_eq!(parsed.contains(address.parse().unwrap()), held, "{net} {address}");
    }
    for refused in ["10.0.0.0/33", "10.0.0/8", "::/129", "host", "10.0.0.0/-1", "10.0.0.0/"] {
        assert!(refused.parse::<Network>().is_err(), "{refused}");
    }
}

#[test]
fn an_explicit_cooldown_replaces_what_is_not_itself_set() {
    let seconds = |base, max| Cooldown { base: Duration::from_secs(base), max: Duration::from_secs(max) };
    let usual = Config::default().pool.cooldowns();
    assert_eq!((usual.other, usual.timeout), (seconds(60, 1800), seconds(15, 1800)));
    assert_eq!((usual.forbidden, usual.limiter), (seconds(900, 43_200), seconds(21_600, 604_800)));
    let set = from_file(
        "[pool]\ncooldown = '5s'\nmax_cooldown = '1m'\ncooldown_by_reason.limiter = '1h'\nmax_cooldown_by_reason.timeout = '20s'",
    );
    let set = set.config.pool.cooldowns();
    assert_eq!((set.other, set.timeout), (seconds(5, 60), seconds(5, 20)));
    assert_eq!((set.forbidden, set.limiter), (seconds(5, 43_200), seconds(3600, 604_800)));
}

#[test]
fn secrets_are_never_shown() {
    let loaded =
        from_file("[searxng]\ninstances = [{ url = 'http://me:hush@host', headers = { X-Key = 'hush' } }]");
    let shown = format!("{:?} {}", loaded, serde_json::to_string(&loaded.config).unwrap());
    assert!(!shown.contains("hush"), "{shown}");
    for text in [
        "[searxng]\ninstances = ['ftp://me:hush@host']",
        "[searxng]\ninstances = ['http://me:hush@host:x']",
        "[searxng]\ninstances = ['http://me:hush@host/?hush']",
        "[searxng]\ninstances = [{ url = 'http://a', headers = { X-Key = \"hush\\n\" } }]",
        "[searxng]\ninstances = [{ url = 'http://a', headers = 'hush' }]",
    ] {
        let said = refused(text).concat();
        assert!(!said.contains("hush"), "{said}");
    }
    let environment = variables(&[("GLEANER__SEARXNG__INSTANCES", r#"[{"url": "http://me:hush@a", }]"#)]);
    let said = load_text("", &Overrides::default(), &environment).unwrap_err().to_string();
    assert!(!said.contains("hush"), "{said}");
}

#[test]
fn a_named_file_must_be_there() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("none.toml");
    let flags = Overrides { config: Some(missing.clone()), ..Overrides::default() };
    let error = load(&flags, &Environment::new()).unwrap_err();
    assert!(matches!(&error, ConfigError::Unreadable { file, .. } if *file == missing));
    let environment = variables(&[("GLEANER_CONFIG", missing.to_str().unwrap())]);
    assert!(load(&Overrides::default(), &environment).is_err());

    let there = directory.path().join("there.toml");
    std::fs::write(&there, "\u{feff}listen = ':5'").unwrap();
    let flags = Overrides { config: Some(there.clone()), ..Overrides::default() };
    let loaded = load(&flags, &environment).unwrap();
    assert_eq!((loaded.file, loaded.config.listen.port()), (Some(there), 5));
}

#[test]
fn bytes_that_are_no_text_are_shown_with_their_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("gleaner.toml");
    std::fs::write(&path, b"listen = ':1'\n# \xff").unwrap();
    let error =
        load(&Overrides { config: Some(path), ..Overrides::default() }, &Environment::new()).unwrap_err();
    assert!(error.to_string().ends_with("gleaner.toml:2: expected UTF-8, found other bytes"), "{error}");
}

fn urls(config: &Config) -> Vec<String> {
    config.searxng.instances.iter().map(|instance| instance.url.to_string()).collect()
}

fn variables(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
}

fn load_text(text: &str, flags: &Overrides, environment: &Environment) -> Result<Loaded, ConfigError> {
    let directory = tempfile::tempdir().expect("a directory for the test");
    let path = directory.path().join("gleaner.toml");
    std::fs::write(&path, text).expect("a file in the directory just made");
    load(&Overrides { config: Some(path), ..flags.clone() }, environment)
}

fn from_file(text: &str) -> Loaded {
    load_text(text, &Overrides::default(), &Environment::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// The lines that are said about a file, its directory taken off.
fn refused(text: &str) -> Vec<String> {
    let error = load_text(text, &Overrides::default(), &Environment::new()).expect_err("the file is wrong");
    let line = |line: &str| line.find("gleaner.toml:").map_or(line, |at| &line[at..]).to_owned();
    error.to_string().lines().map(line).collect()
}
