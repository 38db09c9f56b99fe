//! gaoya's simhash as a side of fingerprint.py: prints the fingerprint of each line of a file, on one thread. No index
//! is built.
//!
//!     peer_gaoya words|chars SHINGLE FILE

use gaoya::simhash::{SimHash, SimSipHasher64};
use gaoya::text::{shingle_text, shingle_tokens, whitespace_split};
use std::io::{self, Write};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let by_words = arguments[1] == "words";
    let shingle: usize = arguments[2].parse().expect("a number");
    let text = std::fs::read_to_string(&arguments[3])?;
    let maker = SimHash::<SimSipHasher64, u64, 64>::new(SimSipHasher64::new(1, 2));
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in text.lines() {
        let lower = line.to_lowercase();
        let fingerprint = if by_words {
            let words: Vec<&str> = whitespace_split(&lower).collect();
            maker.create_signature(shingle_tokens(&words, shingle))
        } else {
            maker.create_signature(shingle_text(&lower, shingle))
        };
        writeln!(out, "{fingerprint:016x}")?;
    }
    out.flush()
}
