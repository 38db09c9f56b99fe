//! gaoya's index of simhashes of 128 bits as a side of compare.py: builds an index in memory, then does what the lines
//! of standard input say, on one thread.
//!
//!     peer_gaoya_index DATA DISTANCE
//!       ready SECONDS BYTES  printed once the index is built: how long that took, and what resident memory grew by
//!       time QUERIES         -> time US MATCHES: microseconds a query, the file's queries asked one after the other
//!       list QUERIES OUT     -> list MATCHES: OUT gets (query, id, distance) of each, little-endian 64-bit numbers

use gaoya::simhash::SimHashIndex;
use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::time::Instant;

/// Fingerprints of two little-endian words, the most significant first.
fn read_fingerprints(path: &str) -> io::Result<Vec<u128>> {
    let mut file = io::BufReader::with_capacity(1 << 20, fs::File::open(path)?);
    let count = fs::metadata(path)?.len() as usize / 16;
    let mut fingerprints = Vec::with_capacity(count);
    let mut bytes = [0u8; 8];
    for _ in 0..count {
        let mut fingerprint = 0u128;
        for _ in 0..2 {
            file.read_exact(&mut bytes)?;
            fingerprint = fingerprint << 64 | u128::from(u64::from_le_bytes(bytes));
        }
        fingerprints.push(fingerprint);
    }
    Ok(fingerprints)
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

/// An index that finds all within the distance. It reports what is nearer than the number that it is given, and cuts
/// fingerprints into blocks of which so many may differ: one block more is the fewest tables.
fn build(fingerprints: &[u128], distance: usize) -> SimHashIndex<u128, u32> {
    let mut index = SimHashIndex::new(distance + 2, distance + 1);
    for (id, &fingerprint) in fingerprints.iter().enumerate() {
        index.insert(id as u32, fingerprint);
    }
    index
}

/// Every match with the index of its query.
fn search(index: &SimHashIndex<u128, u32>, queries: &[u128]) -> Vec<[u64; 3]> {
    let mut matches = Vec::new();
    for (i, query) in queries.iter().enumerate() {
        for (id, distance) in index.query_return_distance(query) {
            matches.push([i as u64, id.into(), distance as u64]);
        }
    }
    matches
}

fn write_matches(matches: &[[u64; 3]], path: &str) -> io::Result<()> {
    let mut out = io::BufWriter::new(fs::File::create(path)?);
    for number in matches.iter().flatten() {
        out.write_all(&number.to_le_bytes())?;
    }
    out.flush()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let distance = arguments[2].parse()?;
    let fingerprints = read_fingerprints(&arguments[1])?;
    let before = resident_bytes()?;
    let begin = Instant::now();
    let index = build(&fingerprints, distance);
    let seconds = begin.elapsed().as_secs_f64();
    println!("ready {} {}", seconds, resident_bytes()? - before);
    drop(fingerprints); // the index has its own
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let queries = read_fingerprints(words[1])?;
        let begin = Instant::now();
        let matches = search(&index, &queries);
        let us = begin.elapsed().as_secs_f64() * 1e6 / queries.len() as f64;
        if words[0] == "list" {
            write_matches(&matches, words[2])?;
            println!("list {}", matches.len());
        } else {
            println!("time {} {}", us, matches.len());
        }
    }
    Ok(())
}
