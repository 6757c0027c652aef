//! What a session may cost, as it is typed.
//!
//! Owns how an amount is read. Invariant: what is no amount never stands for *no budget*.

/// US dollars above zero.
pub(crate) fn budget(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok();
    amount
        .filter(|amount| amount.is_finite() && *amount > 0.0)
        .ok_or_else(|| "name an amount of US dollars above 0, such as 2.50".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_amount_is_refused() {
        assert_eq!(budget("2.50"), Ok(2.5));
        for text in ["nan", "inf", "-inf", "1e400", "0", "-1", "", "two"] {
            let why = budget(text).unwrap_err();
            assert!(why.contains("above 0"), "{text}: {why}");
        }
    }
}
