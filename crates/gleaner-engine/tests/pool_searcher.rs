//! The pool as a searcher, against real HTTP upstreams in every mood.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use gleaner_core::base_url::BaseUrl;
use gleaner_core::circuit::CircuitState;
use gleaner_core::error::{Code, Reason};
use gleaner_core::pool::{Pool, PoolSettings};
use gleaner_core::query::{Query, QueryLimits};
use gleaner_core::report::{Answer, SearchReport};
use gleaner_core::results::ResultPage;
use gleaner_core::trail::{End, Outcome, Why};
use gleaner_engine::clock::Clock;
use gleaner_engine::egress::direct::{Direct, DirectSettings};
use gleaner_engine::egress::guard::{Guard, Pass, Reach};
use gleaner_engine::searchers::pool::{AskSettings, Format, Instance, PoolSearcher};
use gleaner_engine::{Engine, EngineSettings};
use gleaner_testkit::{Mood, Upstream};
use http::HeaderMap;

struct Setup {
    instances: Vec<Instance>,
    ask: AskSettings,
    pool: PoolSettings,
    deadline: Duration,
}

impl Setup {
    fn over<'a>(urls: impl IntoIterator<Item = &'a str>) -> Self {
        let instances = urls.into_iter().map(instance).collect();
        // Without exploration, so that which instance is asked is certain.
        let pool = PoolSettings { explore: 0.0, ..PoolSettings::gateway() };
        let ask = AskSettings { attempts: 3, fan_out: 1, max_body: 4 << 20 };
        Self { instances, ask, pool, deadline: Duration::from_secs(4) }
    }

    fn each(mut self, change: impl Fn(&mut Instance)) -> Self {
        self.instances.iter_mut().for_each(change);
        self
    }

    fn start(self) -> Engine {
        let clock = Clock::new();
        let guard = self.instances.iter().fold(Guard::new(), |guard, instance| {
            guard.allow(
                instance.base.as_url(),
                Pass { reach: Reach::Anywhere, resend: true, ..Pass::default() },
            )
        });
        let egress = Direct::new(&DirectSettings::default(), clock.clone(), guard);
        let pool = Pool::new(self.pool).unwrap();
        let searcher = PoolSearcher::new(pool, self.instances, Arc::new(egress), clock.clone(), self.ask);
        Engine::start(searcher, clock, EngineSettings { deadline: self.deadline, max_results: 0 })
    }
}

fn instance(url: &str) -> Instance {
    Instance {
        base: BaseUrl::parse(url).unwrap(),
        format: Format::Auto,
        headers: HeaderMap::new(),
        timeout: Duration::from_secs(3),
        max_in_flight: 100,
        public: false,
        json_interval: Duration::ZERO,
        html_interval: Duration::ZERO,
        stepwise_forgiveness: false,
        judged: false,
    }
}

fn engine(upstreams: &[&Upstream]) -> Engine {
    let urls: Vec<String> = upstreams.iter().map(|upstream| upstream.url()).collect();
    Setup::over(urls.iter().map(String::as_str)).start()
}

fn query(text: &str) -> Query {
    Query::plain(text).unwrap()
}

fn page(report: &SearchReport) -> &ResultPage {
    match &report.result {
        Ok(Answer::Page(page)) => page,
        other => panic!("no page: {other:?}"),
    }
}

fn reason(report: &SearchReport) -> Reason {
    report.result.as_ref().err().unwrap_or_else(|| panic!("no error: {:?}", report.result)).reason
}

fn state(engine: &Engine, upstream: &Upstream) -> CircuitState {
    let url = upstream.url();
    engine.instances().iter().find(|instance| *instance.stats.instance == *url).unwrap().stats.state
}

#[tokio::test]
async fn a_healthy_instance_answers() {
    let upstream = Upstream::start(Mood::Healthy(7)).await;
    let report = engine(&[&upstream]).search(&query("rust async")).await;
    assert_eq!((page(&report).hits().len(), page(&report).query()), (7, "rust async"));
    assert_eq!((report.outcome(), report.trail.sources.as_slice()), (Outcome::Free, ["searxng"].as_slice()));
    assert_eq!(report.trail.attempts.len(), 1);
}

/// A search that failed everywhere was reported as "success, nothing found"
/// (<https://github.com/NousResearch/hermes-agent/pull/104030>).
#[tokio::test]
async fn a1_degraded_empty_is_tried_elsewhere_a_true_zero_is_not() {
    let (first, second) =
        (Upstream::start(Mood::DegradedEmpty).await, Upstream::start(Mood::Healthy(3)).await);
    let report = engine(&[&first, &second]).search(&query("x")).await;
    assert_eq!((page(&report).hits().len(), second.searches().len()), (3, 1));

    let (first, second) = (Upstream::start(Mood::Empty).await, Upstream::start(Mood::Healthy(3)).await);
    let report = engine(&[&first, &second]).search(&query("x")).await;
    assert_eq!((report.outcome(), second.searches().len()), (Outcome::Zero, 0));

    let (first, second) =
        (Upstream::start(Mood::DegradedEmpty).await, Upstream::start(Mood::DegradedEmpty).await);
    let report = engine(&[&first, &second]).search(&query("x")).await;
    assert_eq!(report.outcome(), Outcome::Degraded);
    assert_eq!(page(&report).unresponsive().len(), 2);
}

/// Degraded-empty answers strike, true zeros say nothing: a nonsense query must not close the pool (R41).
#[tokio::test]
async fn a_nonsense_query_closes_nobody() {
    let upstream = Upstream::start(Mood::Empty).await;
    let engine = engine(&[&upstream]);
    for _ in 0..10 {
        engine.search(&query("zxcvbnm")).await;
    }
    assert_eq!((state(&engine, &upstream), upstream.searches().len()), (CircuitState::Closed, 10));
}

/// "expecting value": an empty or HTML body with 200 reached the user
/// (<https://github.com/open-webui/open-webui/issues/2797>).
#[tokio::test]
async fn a6_a_body_that_is_no_answer_is_tried_elsewhere() {
    for body in ["", "<html>hello</html>", "[]", r#"{"results": ["#] {
        let first = Upstream::start(Mood::Respond(200, vec![], body.to_owned())).await;
        let second = Upstream::start(Mood::Healthy(3)).await;
        let engine = engine(&[&first, &second]);
        let report = engine.search(&query("x")).await;
        assert_eq!(page(&report).hits().len(), 3, "{body}");
        assert_eq!(state(&engine, &first), CircuitState::Open, "{body}");
    }
}

/// 403 because the instance does not list the JSON format (<https://github.com/open-webui/open-webui/issues/2824>).
#[tokio::test]
async fn a7_an_instance_without_json_is_read_in_html_and_remembered() {
    let upstream = Upstream::start(Mood::HtmlOnly(5)).await;
    let engine = engine(&[&upstream]);
    let report = engine.search(&query("rust")).await;
    assert_eq!(page(&report).hits().len(), 5);
    engine.search(&query("rust")).await;
    let formats: Vec<_> = upstream.searches().iter().map(|seen| seen.parameter("format")).collect();
    assert_eq!(formats, [Some("json".to_owned()), None, None]);
    assert_eq!(state(&engine, &upstream), CircuitState::Closed);
}

#[tokio::test]
async fn a7_an_instance_that_must_give_json_and_does_not_is_left_alone_and_named() {
    let upstream = Upstream::start(Mood::HtmlOnly(5)).await;
    let engine =
        Setup::over([upstream.url().as_str()]).each(|instance| instance.format = Format::Json).start();
    let report = engine.search(&query("rust")).await;
    assert_eq!(reason(&report), Reason::FormatOff);
    let report = engine.search(&query("rust")).await;
    assert_eq!(reason(&report), Reason::NobodyToAsk);
    assert_eq!(upstream.searches().len(), 1);
    assert_eq!(state(&engine, &upstream), CircuitState::Closed);
    assert!(engine.instances()[0].note.unwrap().contains("search.formats"));
    assert!(engine.next_available().is_none());
}

#[tokio::test]
async fn an_instance_that_gives_html_for_json_is_read_all_the_same() {
    let html = gleaner_testkit::html_page("rust", 4);
    let upstream = Upstream::start(Mood::Respond(200, vec![], html)).await;
    let report = engine(&[&upstream]).search(&query("rust")).await;
    assert_eq!(page(&report).hits().len(), 4);
}

/// A 500 of one instance reached the client (<https://github.com/ItzCrazyKns/Vane/issues/580>).
#[tokio::test]
async fn a8_a_500_is_tried_elsewhere_and_is_a_502_when_nobody_is_left() {
    let broken = Mood::Respond(500, vec![], r#"{"error": "search error"}"#.to_owned());
    let (first, second) = (Upstream::start(broken.clone()).await, Upstream::start(Mood::Healthy(2)).await);
    let report = engine(&[&first, &second]).search(&query("x")).await;
    assert_eq!(page(&report).hits().len(), 2);
    let report = engine(&[&first]).search(&query("x")).await;
    let error = report.result.unwrap_err();
    assert_eq!((error.reason, error.code().http_status().as_u16()), (Reason::Status, 502));
}

/// Bang syntax redirected outside, and the redirect was followed (<https://github.com/searxng/searxng/issues/3370>).
#[tokio::test]
async fn b12_a_redirect_is_never_followed() {
    let elsewhere = Upstream::start(Mood::Healthy(9)).await;
    // Another host name for the same machine: another site.
    let target = format!("http://localhost:{}/search?q=cats", elsewhere.port());
    let redirect = Mood::Respond(302, vec![("location", target.clone())], String::new());
    let (first, second) = (Upstream::start(redirect).await, Upstream::start(Mood::Healthy(2)).await);
    let engine = engine(&[&first, &second]);
    let report = engine.search(&query("!!g cats")).await;
    assert!(matches!(&report.result, Ok(Answer::Redirect(to)) if *to == target));
    assert_eq!(state(&engine, &first), CircuitState::Closed);
    // Without the bang the same redirect is a refusal, and the next instance is asked.
    let engine = self::engine(&[&first, &second]);
    let report = engine.search(&query("cats")).await;
    assert_eq!(page(&report).hits().len(), 2);
    assert_eq!(state(&engine, &first), CircuitState::Open);
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn a_bad_query_is_told_at_once_and_held_against_nobody() {
    let error = r#"{"error": "Invalid value ² for parameter pageno"}"#.to_owned();
    let (first, second) =
        (Upstream::start(Mood::Respond(400, vec![], error)).await, Upstream::start(Mood::Healthy(2)).await);
    let engine = engine(&[&first, &second]);
    let error = engine.search(&query("x")).await.result.unwrap_err();
    assert_eq!(
        (error.code(), error.message.as_str()),
        (Code::InvalidQuery, "Invalid value ² for parameter pageno")
    );
    assert_eq!((state(&engine, &first), second.searches().len()), (CircuitState::Closed, 0));
}

/// The limiter takes a request that looks like a program's for a bot
/// (<https://github.com/searxng/searxng/issues/3537>); the client's own headers must not travel either.
#[tokio::test]
async fn c1_what_goes_upstream_passes_the_limiter_and_pins_the_locale() {
    let upstream = Upstream::start(Mood::Healthy(1)).await;
    let engine = engine(&[&upstream]);
    engine.search(&query("x").with_accept_language("ja,en;q=0.5")).await;
    let pairs = [("q", "y"), ("language", "de"), ("pageno", "2"), ("engines", "a b,c"), ("tokens", "t")];
    engine.search(&Query::from_pairs(pairs, &QueryLimits::default()).unwrap()).await;
    let seen = upstream.searches();
    let header = |place: usize, name: &str| seen[place].headers[name].to_str().unwrap().to_owned();
    assert!(header(0, "accept").contains("text/html"));
    assert!(header(0, "accept-encoding").contains("gzip"));
    assert!(header(0, "user-agent").starts_with("gleaner/"));
    assert_eq!(
        (header(0, "accept-language"), header(1, "accept-language")),
        ("ja,en;q=0.5".into(), "en".into())
    );
    let parameter = |name: &str| seen[1].parameter(name);
    assert_eq!(parameter("locale").as_deref(), Some("en"));
    assert_eq!((parameter("pageno").as_deref(), parameter("language").as_deref()), (Some("2"), Some("de")));
    assert_eq!((parameter("engines").as_deref(), parameter("tokens").as_deref()), (Some("a b,c"), Some("t")));
    assert_eq!(seen[0].parameter("pageno"), None);
}

#[tokio::test]
async fn the_servers_own_wait_is_kept() {
    let limited =
        Mood::Respond(429, vec![("retry-after", "1000".to_owned())], "Too Many Requests".to_owned());
    let upstream = Upstream::start(limited).await;
    let engine = engine(&[&upstream]);
    assert_eq!(reason(&engine.search(&query("x")).await), Reason::RateLimited);
    let error = engine.search(&query("x")).await.result.unwrap_err();
    assert_eq!(error.reason, Reason::NobodyToAsk);
    let wait = error.retry_after.unwrap().as_secs();
    assert!((990..=1100).contains(&wait), "{wait}");
    assert_eq!(upstream.searches().len(), 1);
}

#[tokio::test]
async fn a_hanging_instance_is_cut_off_by_its_own_limit_and_the_next_one_asked() {
    for mood in [Mood::Hang, Mood::Drip] {
        let (first, second) = (Upstream::start(mood).await, Upstream::start(Mood::Healthy(2)).await);
        let urls = [first.url(), second.url()];
        let setup = Setup::over(urls.iter().map(String::as_str));
        let engine = setup.each(|instance| instance.timeout = Duration::from_millis(150)).start();
        let report = engine.search(&query("x")).await;
        assert_eq!(page(&report).hits().len(), 2);
        let ends: Vec<_> = report.trail.attempts.iter().map(|attempt| (attempt.why, attempt.end)).collect();
        assert_eq!(ends, [(Why::First, End::Failed(Reason::Timeout)), (Why::Retry, End::Answered(2))]);
        assert_eq!(state(&engine, &first), CircuitState::Open);
    }
}

#[tokio::test]
async fn a_search_out_of_time_is_held_against_nobody() {
    let upstream = Upstream::start(Mood::Hang).await;
    let url = upstream.url();
    let engine = Setup { deadline: Duration::from_millis(200), ..Setup::over([url.as_str()]) }.start();
    let error = engine.search(&query("x")).await.result.unwrap_err();
    assert_eq!((error.reason, error.code()), (Reason::Deadline, Code::Timeout));
    assert_eq!(state(&engine, &upstream), CircuitState::Closed);
}

#[tokio::test]
async fn an_answer_without_end_is_refused() {
    let (first, second) =
        (Upstream::start(Mood::Huge(5 << 20)).await, Upstream::start(Mood::Healthy(2)).await);
    let report = engine(&[&first, &second]).search(&query("x")).await;
    assert_eq!(report.trail.attempts[0].end, End::Failed(Reason::TooLarge));
    assert_eq!(page(&report).hits().len(), 2);
}

#[tokio::test]
async fn more_searches_than_places_wait_for_a_free_one() {
    let upstream = Upstream::start(Mood::Slow(Duration::from_millis(30), 2)).await;
    let engine = Setup::over([upstream.url().as_str()]).each(|instance| instance.max_in_flight = 2).start();
    let question = query("x");
    let reports = join_all((0..10).map(|_| engine.search(&question))).await;
    assert!(reports.iter().all(|report| page(report).hits().len() == 2));
    assert_eq!((upstream.peak(), upstream.searches().len()), (2, 10));
}

#[tokio::test]
async fn waiting_for_a_place_ends_with_the_deadline() {
    let upstream = Upstream::start(Mood::Hang).await;
    let url = upstream.url();
    let setup = Setup { deadline: Duration::from_millis(200), ..Setup::over([url.as_str()]) };
    let engine = setup.each(|instance| instance.max_in_flight = 1).start();
    let question = query("x");
    let reports = join_all((0..3).map(|_| engine.search(&question))).await;
    assert!(reports.iter().all(|report| reason(report) == Reason::Deadline));
    assert_eq!(upstream.searches().len(), 1);
}

#[tokio::test]
async fn a_search_that_is_dropped_gives_its_place_back() {
    let upstream = Upstream::start(Mood::Hang).await;
    let engine = Setup::over([upstream.url().as_str()]).each(|instance| instance.max_in_flight = 1).start();
    assert!(tokio::time::timeout(Duration::from_millis(100), engine.search(&query("x"))).await.is_err());
    let stats = engine.instances()[0].stats.clone();
    assert_eq!((stats.in_flight, stats.failures, stats.state), (0, 0, CircuitState::Closed));
    upstream.set(Mood::Healthy(2));
    assert_eq!(page(&engine.search(&query("x")).await).hits().len(), 2);
}

#[tokio::test]
async fn decoys_of_a_public_instance_are_not_the_answer() {
    let decoys = gleaner_testkit::page("casino bonus", 6);
    let (first, second) =
        (Upstream::start(Mood::Respond(200, vec![], decoys)).await, Upstream::start(Mood::Healthy(2)).await);
    let urls = [first.url(), second.url()];
    let engine = Setup::over(urls.iter().map(String::as_str)).each(|instance| instance.judged = true).start();
    let report = engine.search(&query("rust async")).await;
    assert_eq!(page(&report).hits().len(), 2);
    assert_eq!(report.trail.attempts[0].end, End::OffTopic(6));
    // If nobody is better, the most hits are the answer.
    second.set(Mood::DegradedEmpty);
    assert_eq!(page(&engine.search(&query("rust async")).await).hits().len(), 6);
}

#[tokio::test]
async fn fan_out_asks_side_by_side_and_fuses() {
    let (first, second) = (Upstream::start(Mood::Healthy(3)).await, Upstream::start(Mood::Healthy(5)).await);
    let urls = [first.url(), second.url()];
    let setup = Setup::over(urls.iter().map(String::as_str));
    let engine = Setup { ask: AskSettings { fan_out: 2, ..setup.ask }, ..setup }.start();
    let report = engine.search(&query("x")).await;
    assert_eq!(page(&report).hits().len(), 5);
    assert!(page(&report).hits().is_sorted_by(|one, other| one.score() > other.score()));
    assert_eq!((first.searches().len(), second.searches().len()), (1, 1));
}

#[tokio::test]
async fn one_slow_engine_does_not_cost_the_answers_of_the_others() {
    let upstream = Upstream::start(Mood::Healthy(1)).await;
    let setup = Setup::over([upstream.url().as_str()]);
    // The catalogue says 3 s for its engine: less than that is passed on, more is not needed.
    let engine = setup.each(|instance| instance.timeout = Duration::from_secs(2)).start();
    while engine.config().is_none() {
        tokio::task::yield_now().await;
    }
    engine.search(&query("x")).await;
    let limit: f64 = upstream.searches()[0].parameter("timeout_limit").unwrap().parse().unwrap();
    assert!((1.5..=1.7).contains(&limit), "{limit}");
    let asked = Query::from_pairs([("q", "x"), ("timeout_limit", "1.25")], &QueryLimits::default()).unwrap();
    engine.search(&asked).await;
    assert_eq!(upstream.searches()[1].parameter("timeout_limit").as_deref(), Some("1.250"));
    let engine = Setup::over([upstream.url().as_str()]).each(|instance| instance.public = true).start();
    engine.search(&query("x")).await;
    assert_eq!(upstream.searches()[2].parameter("timeout_limit"), None);
}

/// Three instances, one healthy, one dead, one that limits: everything is answered, and the others get their trials only.
#[tokio::test]
async fn the_pool_at_work() {
    let healthy = Upstream::start(Mood::Healthy(3)).await;
    let limited = Upstream::start(Mood::Respond(429, vec![], "Too Many Requests".to_owned())).await;
    let dead = Upstream::start(Mood::Close).await;
    let engine = engine(&[&dead, &limited, &healthy]);
    let question = query("x");
    for _ in 0..15 {
        let reports = join_all((0..20).map(|_| engine.search(&question))).await;
        assert!(reports.iter().all(|report| page(report).hits().len() == 3));
    }
    // The first twenty went out before anybody could know.
    assert!(
        limited.searches().len() <= 20 && dead.searches().len() <= 60,
        "{} {}",
        limited.searches().len(),
        dead.searches().len()
    );
    assert_eq!(healthy.searches().len(), 300);
}

#[tokio::test]
async fn when_the_last_instance_dies_and_another_starts_the_pool_recovers_by_itself() {
    let upstream = Upstream::start(Mood::Healthy(3)).await;
    let (url, port) = (upstream.url(), upstream.port());
    // Silence has a short cooldown here, so that the test need not wait for the real one.
    let mut setup = Setup::over([url.as_str()]);
    setup.pool.cooldown_by_reason = gleaner_core::pool::CooldownByReason::default();
    setup.pool.cooldown = Duration::from_millis(100);
    let engine = setup.start();
    let question = query("x");
    assert_eq!(page(&engine.search(&question).await).hits().len(), 3);
    upstream.stop().await;
    assert_eq!(reason(&engine.search(&question).await), Reason::Transport);
    let _again = Upstream::start_at(Mood::Healthy(4), port).await;
    let recovered = async {
        loop {
            if let Ok(Answer::Page(page)) = engine.search(&question).await.result {
                return page.hits().len();
            }
            tokio::task::yield_now().await;
        }
    };
    assert_eq!(tokio::time::timeout(Duration::from_secs(10), recovered).await, Ok(4));
}

#[tokio::test]
async fn a_hundred_at_once_spread_over_equal_idle_instances() {
    let upstreams = [
        Upstream::start(Mood::Slow(Duration::from_millis(100), 1)).await,
        Upstream::start(Mood::Slow(Duration::from_millis(100), 1)).await,
        Upstream::start(Mood::Slow(Duration::from_millis(100), 1)).await,
    ];
    let engine = engine(&[&upstreams[0], &upstreams[1], &upstreams[2]]);
    let question = query("x");
    join_all((0..100).map(|_| engine.search(&question))).await;
    let counts: BTreeMap<u16, usize> = upstreams.iter().map(|up| (up.port(), up.searches().len())).collect();
    assert!(counts.values().all(|count| (27..=40).contains(count)), "{counts:?}");
}
