//! A linear program of one form: make `c . y` as large as possible where `0 <= y <= 1` and `a . y <= 0` for each of some rows.
//!
//! The dense simplex method in floating point. Nobody has to believe the result: whoever uses it rounds and checks it in
//! integers. Right sides of 0 make every corner degenerate, so each gets a little more than 0; what that adds to a result
//! disappears in rounding. (Solvers of the ecosystem bring ten crates for what fits on this page.)

/// What counts as 0.
const EPSILON: f64 = 1e-9;
/// The most numbers that are computed, some tenths of a second: nobody is asked on the way whether to stop.
const MOST_NUMBERS: usize = 200_000_000;

/// The best `y`, if one is found for which `c . y` is more than 0. The rows list their entries that are not 0.
pub(super) fn maximise(objective: &[f64], rows: &[Vec<(usize, f64)>]) -> Option<Vec<f64>> {
    let columns = objective.len();
    // One row for each condition, one for each upper bound, and the objective; one column for each variable, and the right side.
    let height = rows.len() + columns;
    let width = columns + 1;
    let mut table = vec![0.0; (height + 1) * width];
    for (number, row) in rows.iter().enumerate() {
        row.iter().for_each(|&(column, value)| table[number * width + column] += value);
        table[number * width + columns] = 1e-7 * (1.0 + ((number * 7919) % 1009) as f64 / 1009.0);
    }
    for column in 0..columns {
        let number = rows.len() + column;
        table[number * width + column] = 1.0;
        table[number * width + columns] = 1.0;
    }
    objective.iter().enumerate().for_each(|(column, value)| table[height * width + column] = -value);
    // Which variable a row or a column stands for; those from `columns` on are slack.
    let mut basis: Vec<usize> = (columns..columns + height).collect();
    let mut free: Vec<usize> = (0..columns).collect();
    for _ in 0..MOST_NUMBERS / table.len() {
        let last = &table[height * width..height * width + columns];
        let (enter, least) = last.iter().enumerate().min_by(|one, other| one.1.total_cmp(other.1))?;
        if *least > -EPSILON {
            break;
        }
        let ratio = |row: usize| {
            let entry = table[row * width + enter];
            (entry > EPSILON).then(|| table[row * width + columns] / entry)
        };
        let ratios = (0..height).filter_map(|row| Some((row, ratio(row)?)));
        let (leave, _) = ratios.min_by(|one, other| one.1.total_cmp(&other.1))?;
        exchange(&mut table, width, leave, enter);
        std::mem::swap(&mut basis[leave], &mut free[enter]);
    }
    let mut result = vec![0.0; columns];
    for (row, &variable) in basis.iter().enumerate().filter(|(_, variable)| **variable < columns) {
        result[variable] = table[row * width + columns];
    }
    (table[height * width + columns] > 1e-4).then_some(result)
}

/// Exchanges what a row and a column stand for.
fn exchange(table: &mut [f64], width: usize, leave: usize, enter: usize) {
    let pivot = table[leave * width + enter];
    let mut own: Vec<f64> = table[leave * width..(leave + 1) * width].iter().map(|value| value / pivot).collect();
    own[enter] = 1.0 / pivot;
    for (number, row) in table.chunks_mut(width).enumerate() {
        let factor = row[enter];
        if number == leave {
            row.copy_from_slice(&own);
        } else if factor != 0.0 {
            row.iter_mut().zip(&own).for_each(|(value, own)| *value -= factor * own);
            row[enter] = -factor * own[enter];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::maximise;

    #[test]
    fn small_programs() {
        // y0 <= y1, and y1 costs half as much as y0 brings.
        let result = maximise(&[1.0, -0.5], &[vec![(0, 1.0), (1, -1.0)]]).unwrap();
        assert!((result[0] - 1.0).abs() < 1e-3 && (result[1] - 1.0).abs() < 1e-3, "{result:?}");
        // It costs more than it brings.
        assert_eq!(maximise(&[1.0, -2.0], &[vec![(0, 1.0), (1, -1.0)]]), None);
        // 2 y0 <= y1, 3 y2 <= y0: all that is left is small.
        let rows = [vec![(0, 2.0), (1, -1.0)], vec![(2, 3.0), (0, -1.0)]];
        let result = maximise(&[0.0, 0.0, 1.0], &rows).unwrap();
        assert!((result[2] - 1.0 / 6.0).abs() < 1e-3, "{result:?}");
    }
}
