//! Figures from Johnson and Wahl, "Delay-Bounded Scheduling Without Delay!" (2021), Tables 2 and 3.

use serde::Serialize;

/// A time in seconds, or why there is none.
#[derive(Serialize, Clone, Copy, Debug)]
#[serde(untagged)]
pub(super) enum Time {
    /// Seconds.
    Took(f64),
    /// `TO` is out of time, `OOM` out of memory.
    Out(&'static str),
}

/// A line of the two tables.
#[derive(Serialize, Clone, Copy, Debug)]
pub(super) struct Published {
    #[serde(skip)]
    pub(super) model: &'static str,
    #[serde(skip)]
    pub(super) threads: &'static str,
    /// The name of the model's file in the collection that CUBA comes with.
    #[serde(skip)]
    pub(super) file: Option<&'static str>,
    pub(super) views: Option<u64>,
    pub(super) seconds: Time,
    pub(super) every_iteration_seconds: Time,
    pub(super) cuba_seconds: Time,
    pub(super) rounds: Option<u32>,
    pub(super) delays: Option<u32>,
    pub(super) images_before_plateau: Option<u64>,
    pub(super) images_during_plateau: Option<u64>,
    pub(super) images_without_frontier: Option<u64>,
}

/// Names, file, views, the three times, rounds and delays, the three numbers of images.
type Line =
    ((&'static str, &'static str), Option<&'static str>, Option<u64>, [Time; 3], Option<(u32, u32)>, [Option<u64>; 3]);

impl From<&Line> for Published {
    fn from(&((model, threads), file, views, times, bound, images): &Line) -> Self {
        let [seconds, every_iteration_seconds, cuba_seconds] = times;
        let [images_before_plateau, images_during_plateau, images_without_frontier] = images;
        Self {
            model,
            threads,
            file,
            views,
            seconds,
            every_iteration_seconds,
            cuba_seconds,
            rounds: bound.map(|(rounds, _)| rounds),
            delays: bound.map(|(_, delays)| delays),
            images_before_plateau,
            images_during_plateau,
            images_without_frontier,
        }
    }
}

/// All lines, in the order of the paper.
pub(super) fn lines() -> Vec<Published> {
    LINES.iter().map(Published::from).collect()
}

const fn took(times: [f64; 3]) -> [Time; 3] {
    [Time::Took(times[0]), Time::Took(times[1]), Time::Took(times[2])]
}

const fn all(images: [u64; 3]) -> [Option<u64>; 3] {
    [Some(images[0]), Some(images[1]), Some(images[2])]
}

const TO: Time = Time::Out("TO");
const OOM: Time = Time::Out("OOM");

#[rustfmt::skip]
const LINES: &[Line] = &[
    (("Bluetooth1", "1+1"), Some("Bluetooth1-11"), Some(1_010), took([0.69, 0.92, 0.32]), Some((23, 15)), all([4_034, 1, 339_261])),
    (("Bluetooth1", "1+2"), Some("Bluetooth1-12"), Some(5_468), took([3.32, 6.79, 2.25]), Some((32, 29)), all([23_441, 3, 4_758_084])),
    (("Bluetooth1", "2+1"), Some("Bluetooth1-21"), Some(18_972), took([8.52, 16.69, 13.60]), Some((33, 26)), all([80_283, 19, 23_199_458])),
    (("Bluetooth2", "1+1"), None, Some(1_018), took([0.71, 0.98, 0.29]), Some((23, 15)), all([4_103, 1, 350_587])),
    (("Bluetooth2", "1+2"), None, Some(5_468), took([3.60, 6.68, 2.62]), Some((32, 29)), all([23_493, 3, 4_780_778])),
    (("Bluetooth2", "2+1"), None, Some(18_972), took([8.81, 16.68, 13.97]), Some((33, 26)), all([80_714, 19, 23_290_556])),
    (("Bluetooth3", "1+1"), Some("Bluetooth3-11"), Some(1_018), took([0.72, 1.23, 0.41]), Some((23, 15)), all([4_096, 8, 348_851])),
    (("Bluetooth3", "1+2"), Some("Bluetooth3-12"), Some(5_468), took([3.61, 6.40, 2.79]), Some((32, 29)), all([23_496, 3, 4_786_950])),
    (("Bluetooth3", "2+1"), Some("Bluetooth3-21"), Some(19_002), took([9.97, 16.27, 14.50]), Some((33, 26)), all([80_834, 19, 23_467_470])),
    (("Bluetooth3", "2+2"), None, Some(94_335), took([70.71, 136.31, 343.05]), Some((44, 40)), all([478_426, 2, 283_910_446])),
    (("Bluetooth3", "2+3"), None, Some(460_684), [Time::Took(654.47), Time::Took(2084.76), TO], Some((56, 56)), [Some(2_766_625), Some(6), None]),
    (("BST-Insert", "1+1"), Some("bst-11"), Some(272), took([0.36, 0.49, 0.14]), Some((31, 16)), all([780, 1, 82_130])),
    (("BST-Insert", "2+1"), None, Some(6_644), took([3.62, 5.25, 10.09]), Some((49, 32)), all([29_802, 6, 17_785_065])),
    (("BST-Insert", "2+2"), Some("bst-22"), Some(14_256), took([8.12, 14.87, 99.94]), Some((50, 38)), all([62_190, 25, 34_335_106])),
    (("Filecrawler", "1+2"), Some("filecrawer"), Some(246), took([0.37, 0.54, 0.05]), Some((20, 12)), all([1_056, 4, 202_074])),
    (("K-Induction", "1+1"), Some("k-induction"), Some(130), took([0.51, 0.74, 0.48]), Some((20, 9)), all([5_636, 974, 218_715])),
    (("Proc-2", "2+2"), None, Some(130), took([0.56, 0.77, 2.05]), Some((19, 20)), all([2_501, 1_298, 578_099])),
    (("Stefan", "2"), Some("stefan-2"), Some(31), took([0.24, 0.36, 0.04]), Some((13, 2)), all([367, 59, 500_494])),
    (("Stefan", "4"), Some("stefan-4"), Some(687), took([13.99, 13.82, 20.33]), Some((32, 4)), [Some(658_696), Some(261_881), None]),
    (("Stefan", "5"), None, Some(3_085), [Time::Took(428.22), Time::Took(295.02), OOM], Some((35, 5)), [Some(10_299_275), Some(16_920_446), None]),
    (("Stefan", "8"), None, None, [OOM, OOM, OOM], None, [None, None, None]),
    (("Dekker", "2"), Some("dekker"), Some(1_507), took([0.82, 1.62, 0.39]), Some((37, 16)), all([3_636, 2, 688_836])),
];
