//! A corpus in tests: its inputs, and mutations of them, as a short run of a fuzzer makes them.

/// The inputs of a corpus. Each crate reads one of the two forms.
pub struct Corpus(Vec<Vec<u8>>);

#[allow(dead_code)]
impl Corpus {
    /// Reads one input per line: a name, a blank, and octets as hexadecimal digits.
    pub fn of_octets(lines: &str) -> Self {
        Self::of(lines, |hex| {
            let digits = hex.as_bytes().chunks(2);
            digits
                .map(|digits| u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap())
                .collect()
        })
    }

    /// Reads one input per line: a name, a blank, and text in which `\n` is the end of a line.
    pub fn of_texts(lines: &str) -> Self {
        Self::of(lines, |text| text.replace("\\n", "\n").into_bytes())
    }

    fn of(lines: &str, input: impl Fn(&str) -> Vec<u8>) -> Self {
        let inputs: Vec<Vec<u8>> = lines
            .lines()
            .map(|line| line.split_once(' ').expect("a name and an input"))
            .map(|(_, text)| input(text))
            .collect();
        assert!(inputs.len() >= 10, "{} inputs", inputs.len());
        Self(inputs)
    }

    /// Returns the inputs.
    pub fn inputs(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// Calls `check` with so many mutations: octets exchanged, numbers made extreme, parts repeated, inputs
    /// joined. They are the same in each run.
    pub fn mutations(&self, count: usize, mut check: impl FnMut(&[u8])) {
        let corpus = &self.0;
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |limit: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % limit.max(1) as u64) as usize
        };
        for _ in 0..count {
            let mut input = corpus[below(corpus.len())].clone();
            for _ in 0..=below(4) {
                let (at, other) = (below(input.len()), &corpus[below(corpus.len())]);
                match below(5) {
                    0 => input[at] ^= 1 << below(8),
                    1 => input[at] = [0, 1, 0x7f, 0x80, 0xff][below(5)],
                    2 => input.truncate(at.max(2)),
                    3 => input.extend_from_slice(&other[2.min(other.len())..]),
                    _ => {
                        let end = at + below(input.len() - at);
                        let again = input[at..end].to_vec();
                        input.splice(at..at, again);
                    }
                }
            }
            check(&input);
        }
    }
}
