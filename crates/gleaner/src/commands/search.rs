//! `gleaner search`: one search, from the command line.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use gleaner_core::query::{Query, QueryLimits};
use gleaner_core::report::{Answer, SearchReport};
use gleaner_core::results::{Hit, JsonStyle, ResultPage};

use crate::cli::SourceArgs;
use crate::wiring;

pub(super) fn search(words: &str, json: bool, source: SourceArgs) -> anyhow::Result<ExitCode> {
    let config = super::load(source)?.config;
    if config.searxng.instances.is_empty() {
        anyhow::bail!("no instance is configured: use --searxng URL, SEARXNG_URL or searxng.instances");
    }
    let limits = QueryLimits { query: config.limits.query };
    let query = Query::from_pairs([("q", words)], &limits)?;
    let report = super::runtime()?.block_on(async {
        let engine = wiring::engine(&config)?;
        let report = with_progress(engine.search(&query)).await;
        engine.shutdown(Duration::ZERO).await;
        anyhow::Ok(report)
    })?;
    let page = match &report.result {
        Ok(Answer::Page(page)) => page,
        Ok(Answer::Redirect(target)) => {
            anstream::println!("{target}");
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => return Err(error.clone()).context("the search failed"),
    };
    if json {
        let style = JsonStyle { number_of_results: config.results.number_of_results };
        let text = String::from_utf8(page.to_json(style)).context("the answer is not text")?;
        anstream::println!("{text}");
    } else {
        list(page, &report);
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows on a terminal that something goes on, while it does.
async fn with_progress<T>(work: impl Future<Output = T>) -> T {
    if !std::io::stderr().is_terminal() {
        return work.await;
    }
    tokio::pin!(work);
    let mut ticks = tokio::time::interval(Duration::from_millis(120));
    for face in ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"].iter().cycle() {
        tokio::select! {
            result = &mut work => {
                anstream::eprint!("\r\x1b[K");
                return result;
            }
            _ = ticks.tick() => anstream::eprint!("\r{face} searching"),
        }
    }
    unreachable!("the faces repeat for ever")
}

fn list(page: &ResultPage, report: &SearchReport) {
    for answer in page.answers() {
        let text: Option<serde_json::Value> = serde_json::from_str(answer).ok();
        let text = text.as_ref().and_then(|answer| answer.as_str().or(answer["answer"].as_str()));
        if let Some(text) = text {
            anstream::println!("{BOLD}{text}{BOLD:#}\n");
        }
    }
    for (place, hit) in page.hits().iter().enumerate() {
        show(place + 1, hit);
    }
    if page.is_empty() {
        anstream::println!("Nothing was found.");
    }
    for engine in page.unresponsive() {
        anstream::println!("{DIM}{}: {}{DIM:#}", plain(&engine.engine), plain(&engine.reason));
    }
    let sources = report.trail.instances().collect::<Vec<_>>().join(", ");
    let elapsed = report.trail.elapsed.as_secs_f64();
    anstream::println!("{DIM}{} in {elapsed:.2} s {sources}{DIM:#}", report.outcome().as_str());
}

fn show(rank: usize, hit: &Hit) {
    anstream::println!("{DIM}{rank:>2}.{DIM:#} {BOLD}{}{BOLD:#}", plain(&hit.title()));
    if let Some(url) = hit.url() {
        anstream::println!("    {LINK}{}{LINK:#}", plain(&url));
    }
    if !hit.content().is_empty() {
        anstream::println!("    {}", plain(&hit.content()));
    }
    anstream::println!("    {DIM}{}{DIM:#}\n", plain(&hit.engines().join(", ")));
}

/// Text from outside must not steer the terminal.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

const BOLD: anstyle::Style = anstyle::Style::new().bold();
const DIM: anstyle::Style = anstyle::Style::new().dimmed();
const LINK: anstyle::Style = anstyle::AnsiColor::Cyan.on_default();
