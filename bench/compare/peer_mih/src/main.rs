//! mih-rs as a side of compare.py: builds an index in memory, then does what the lines of standard input say, on one
//! thread.
//!
//!     peer_mih DATA DISTANCE
//!       ready SECONDS BYTES  printed once the index is built: how long that took, and what resident memory grew by
//!       time QUERIES         -> time US MATCHES: microseconds a query, the file's queries asked one after the other
//!       list QUERIES OUT     -> list MATCHES: OUT gets (query, id, distance) of each, little-endian 64-bit numbers

use mih_rs::Index;
use std::fs;
use std::io::{self, BufRead, Write};
use std::time::Instant;

/// Little-endian 64-bit numbers. Read in pieces, so that no second copy of the data is ever in memory.
fn read_numbers(path: &str) -> io::Result<Vec<u64>> {
    let mut file = io::BufReader::with_capacity(1 << 20, fs::File::open(path)?);
    let count = fs::metadata(path)?.len() as usize / 8;
    let mut numbers = Vec::with_capacity(count);
    let mut bytes = [0u8; 8];
    for _ in 0..count {
        io::Read::read_exact(&mut file, &mut bytes)?;
        numbers.push(u64::from_le_bytes(bytes));
    }
    Ok(numbers)
}

/// RssAnon + RssFile, as the memory of the other sides is counted.
fn resident_bytes() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let of = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
    let counted = status
        .lines()
        .filter(|line| line.starts_with("RssAnon:") || line.starts_with("RssFile:"));
    Ok(counted.filter_map(of).sum::<u64>() * 1024)
}

/// Every match with the index of its query. The searcher gives ids alone; their distances are looked up by the caller.
fn search(index: &Index<u64>, queries: &[u64], distance: usize) -> Vec<(u64, u32)> {
    let mut matches = Vec::new();
    let mut searcher = index.range_searcher();
    for (i, &query) in queries.iter().enumerate() {
        matches.extend(
            searcher
                .run(query, distance)
                .iter()
                .map(|&id| (i as u64, id)),
        );
    }
    matches
}

fn write_matches(
    index: &Index<u64>,
    queries: &[u64],
    matches: &[(u64, u32)],
    path: &str,
) -> io::Result<()> {
    let mut out = io::BufWriter::new(fs::File::create(path)?);
    for &(query, id) in matches {
        let distance = (queries[query as usize] ^ index.codes()[id as usize]).count_ones();
        for number in [query, id.into(), distance.into()] {
            out.write_all(&u64::to_le_bytes(number))?;
        }
    }
    out.flush()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let distance = arguments[2].parse()?;
    let before = resident_bytes()?; // the index takes over the codes, so they are its memory
    let codes = read_numbers(&arguments[1])?;
    let begin = Instant::now();
    let index = Index::new(codes)?;
    println!(
        "ready {} {}",
        begin.elapsed().as_secs_f64(),
        resident_bytes()? - before
    );
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let queries = read_numbers(words[1])?;
        let begin = Instant::now();
        let matches = search(&index, &queries, distance);
        let us = begin.elapsed().as_secs_f64() * 1e6 / queries.len() as f64;
        if words[0] == "list" {
            write_matches(&index, &queries, &matches, words[2])?;
            println!("list {}", matches.len());
        } else {
            println!("time {} {}", us, matches.len());
        }
    }
    Ok(())
}
