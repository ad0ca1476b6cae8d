//! Certificates of pushdown proofs: inductive sets of views, lemma by lemma.
//!
//! A lemma of depth `b` is a pair of sets. *Views*: a shared state and, for each thread, a *word*: the topmost `b`
//! symbols of its stack, top first, where the marker 0 ends a stack that is lower. *Below*: for each thread, which
//! symbols (or the marker) may lie directly beneath a word of `b` real symbols, anywhere in the stack. A lemma claims
//! that its views contain the view of every reachable state. It is proved by induction: the initial view is there,
//! and every step from a view leads to a view that is there as well or that an *earlier* lemma excludes. The last
//! lemma avoids the properties.
//!
//! Threads that are interchangeable form a *group*: its first thread, the leader, lists words and what lies below
//! them for all of them, and each of the others says that it is *like* the leader. A row of views then has the cells
//! of a group in ascending order along its threads, and stands for all rows that arise by permuting them.
//!
//! The text form gives shared states, threads and symbols as numbers of the model, whose digest stands in the head.
//! The last line holds the digest of all text above it, so that truncation and accidents are found before any
//! reasoning; it is no defence against a forger, who is left to the checker.

use tepui_model::Digest;
use tepui_model::pushdown::Property;

use super::lemma::Lemma;
use super::regular::Regular;

/// A proof that no reachable view violates the properties.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The model that the proof is about.
    pub model: Digest,
    /// What is proved; nothing, if the proof is only that the views of the last lemma are all there are.
    pub properties: Vec<Property>,
    /// The lemmas, each relative to those before it.
    pub lemmas: Vec<Lemma>,
    /// Regular sets, instead of lemmas.
    pub regular: Option<Regular>,
}

pub(super) const HEAD: &str = "tepui certificate 1";

impl Certificate {
    /// The first lines that a text may have.
    pub const HEADS: &[&str] = &[HEAD];

    /// The model that the proof is about.
    pub fn model(&self) -> Digest {
        self.model
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LemmaThread, Rows};
    use super::*;
    use tepui_model::pushdown::{Pattern, Shared, Symbol};

    fn sample() -> Certificate {
        let words = vec![vec![Symbol(1), Symbol(2)], vec![Symbol(1), Symbol(0)], vec![Symbol(0)]];
        let below = vec![(vec![Symbol(1), Symbol(2)], vec![Symbol(0), Symbol(2)])];
        let mut views = Rows::new(3);
        for row in [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 2], [3, 0, 0], [3, 0, 2]] {
            views.push(row);
        }
        let thread = LemmaThread { like: None, words, below };
        let pattern = Pattern { shared: None, tops: vec![Some(Symbol(2)), None] };
        Certificate {
            model: Digest::of(b"model"),
            properties: vec![Property { name: "no clash".to_owned(), never: vec![pattern] }],
            lemmas: vec![Lemma { depth: 2, threads: vec![thread.clone(), thread], views, explored: Vec::new() }],
            regular: None,
        }
    }

    /// Threads 1, 3 and 4 are interchangeable, and thread 2 has one word only.
    fn symmetric() -> Certificate {
        let mut certificate = sample();
        let leader = certificate.lemmas[0].threads[0].clone();
        let alone = LemmaThread { words: vec![vec![Symbol(1), Symbol(0)]], ..LemmaThread::default() };
        let follower = LemmaThread { like: Some(0), ..LemmaThread::default() };
        let mut views = Rows::new(5);
        for row in [[0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 2], [1, 0, 0, 2, 2], [1, 1, 0, 1, 2]] {
            views.push(row);
        }
        certificate.lemmas[0].threads = vec![leader, alone, follower.clone(), follower];
        certificate.lemmas[0].views = views;
        certificate
    }

    /// A text whose seal is right.
    fn sealed(body: &str) -> String {
        format!("{body}end {}\n", Digest::of(body.as_bytes()))
    }

    /// A text with one piece replaced and the seal put right.
    fn replaced(text: &str, from: &str, to: &str) -> String {
        let body = &text[..text.rfind("end ").unwrap()];
        assert!(body.contains(from), "{from} is not in {text}");
        sealed(&body.replacen(from, to, 1))
    }

    #[test]
    fn printing_and_reading_agree() {
        let certificate = sample();
        let text = certificate.to_text();
        assert!(text.contains("\n0 0 : 0-2\n0 1 : 2\n3 0 : 0 2\n"), "{text}");
        assert_eq!(Certificate::from_text(&text), Ok(certificate));
        let pattern = &Certificate::from_text(&text).unwrap().properties[0].never[0];
        assert!(pattern.matches(Shared(9), |thread| Symbol(2 + thread as u32)));
    }

    #[test]
    fn a_thread_that_is_like_another_takes_one_line() {
        let certificate = symmetric();
        let text = certificate.to_text();
        assert!(text.contains("\nthread 2\nwords 1.0\nthread 3 like 1\nthread 4 like 1\nviews 5\n"), "{text}");
        assert!(text.contains("\n0 0 0 0 : 0-2\n1 0 0 2 : 2\n1 1 0 1 : 2\nend "), "{text}");
        assert_eq!(Certificate::from_text(&text), Ok(certificate.clone()));
        let spaced = replaced(&text, "thread 3 like 1", "  thread  3 \t like  1  # the same words");
        assert_eq!(Certificate::from_text(&spaced), Ok(certificate));
    }

    #[test]
    fn a_thread_is_like_an_earlier_leader_only() {
        let text = symmetric().to_text();
        for (changed, place) in [
            ("thread 4 like 0", "like no other"),
            ("thread 4 like 3", "like no other"),
            ("thread 4 like 4", "like no other"),
            ("thread 4 like 5", "like no other"),
            ("thread 4 like 18446744073709551615", "like no other"),
            ("thread 4 like 18446744073709551616", "not a number"),
            ("thread 4 like -1", "not a number"),
            ("thread 4 like 1 1", "not a number"),
            ("thread 4 like", "not a number"),
            ("thread 4 likes 1", "expected `thread N like M`"),
            ("thread 4 1", "expected `thread N like M`"),
            ("thread 3 like 1", "expected thread 4"),
            ("thread like 1", "not a number"),
            ("thread 4 like 1\nwords 1.0", "expected `views`"),
            ("thread 4 like 1\nbelow 1.2 : 0", "expected `views`"),
            ("thread 4", "expected `words`"),
        ] {
            let error = Certificate::from_text(&replaced(&text, "thread 4 like 1", changed)).unwrap_err();
            assert!(error.message.contains(place), "{changed}: {error}");
        }
    }

    #[test]
    fn the_words_of_the_leader_bound_the_last_cell() {
        let text = symmetric().to_text();
        assert!(Certificate::from_text(&replaced(&text, "1 0 0 2 : 2", "1 0 0 2 : 1")).is_ok());
        let error = Certificate::from_text(&replaced(&text, "1 0 0 2 : 2", "1 0 0 2 : 3")).unwrap_err();
        assert!(error.message.contains("does not fit the 3 words"), "{error}");
        // Thread 2, which is no leader of thread 4, has one word.
        let error = Certificate::from_text(&replaced(&text, "thread 4 like 1", "thread 4 like 2")).unwrap_err();
        assert!(error.message.contains("does not fit the 1 words"), "{error}");
    }

    #[test]
    fn no_value_upsets_the_writer() {
        for like in [0, 1, 2, 3, 4, 5, usize::MAX] {
            let mut certificate = symmetric();
            certificate.lemmas[0].threads[2].like = Some(like);
            let legal = like < 2;
            assert_eq!(Certificate::from_text(&certificate.to_text()).is_ok(), legal, "{like}");
            certificate.lemmas[0].threads[0].like = Some(like);
            assert!(Certificate::from_text(&certificate.to_text()).is_err(), "{like}");
        }
    }

    #[test]
    fn every_changed_byte_and_every_truncation_is_noticed() {
        for certificate in [sample(), symmetric()] {
            notices_every_change(&certificate.to_text());
        }
    }

    fn notices_every_change(text: &str) {
        for cut in 0..text.len() - 1 {
            assert!(Certificate::from_text(&text[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..text.len() - 1 {
            for byte in [b'0', b'7', b' ', b'\n', b'x'] {
                let mut bytes = text.as_bytes().to_vec();
                if bytes[at] == byte {
                    continue;
                }
                bytes[at] = byte;
                let changed = String::from_utf8(bytes).unwrap();
                assert!(Certificate::from_text(&changed).is_err(), "{byte} at {at}");
            }
        }
    }

    #[test]
    fn an_announced_number_allocates_nothing() {
        let head = format!("{HEAD}\nmodel {}\n", Digest::of(b""));
        let alone = "lemma depth 1 threads 1\nthread 1\nwords 1\n";
        let pair = "lemma depth 1 threads 2\nthread 1\nwords 1\nthread 2 like 1\n";
        let many = "lemma depth 1 threads 65535\nthread 1\nwords 1\nthread 2 like 1\n";
        for rows in ["views 9999999999999\n", "views 2\n", "views 18446744073709551615\n"] {
            for body in [format!("{alone}{rows}0 : 0-4000000000\n"), format!("{pair}{rows}0 0 : 0-4000000000\n")] {
                let error = Certificate::from_text(&sealed(&format!("{head}{body}"))).unwrap_err();
                assert!(error.message.contains("does not fit the 1 words"), "{error}");
            }
            let error = Certificate::from_text(&sealed(&format!("{head}{many}{rows}"))).unwrap_err();
            assert!(error.message.contains("expected `thread`"), "{error}");
        }
    }

    #[test]
    fn as_many_threads_as_there_can_be_are_read() {
        let threads = (2..=65535).map(|number| format!("thread {number} like 1\n")).collect::<String>();
        let row = "0 ".repeat(65535);
        let head = format!("{HEAD}\nmodel {}\nlemma depth 1 threads 65535\nthread 1\nwords 0 1\n", Digest::of(b""));
        let text = sealed(&format!("{head}{threads}views 2\n{row}: 0-1\n"));
        let certificate = Certificate::from_text(&text).unwrap();
        assert_eq!((certificate.lemmas[0].threads.len(), certificate.lemmas[0].views.len()), (65535, 2));
        assert_eq!(certificate.to_text(), text);
    }
}
