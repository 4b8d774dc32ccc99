//! What a run acts against: `environment: inputs.target`, and `--environment`.

/// Whether it is a place where nothing is taken for granted.
pub fn is_production(environment: &str) -> bool {
    environment
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| ["prod", "production", "live", "prd"].contains(&word.to_lowercase().as_str()))
}

/// The environment of a run: what the skill's own input says. What is asked for
/// besides counts only if it is stricter.
pub fn stricter(declared: Option<&str>, asked: Option<&str>) -> Option<String> {
    let environment = match (declared, asked) {
        (Some(declared), Some(asked)) if is_production(asked) && !is_production(declared) => {
            Some(asked)
        }
        (Some(declared), _) => Some(declared),
        (None, asked) => asked,
    };
    environment.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_makes_it_stricter_and_never_less_strict() {
        let both = |declared, asked| stricter(Some(declared), Some(asked));
        assert_eq!(both("production", "stage").as_deref(), Some("production"));
        assert_eq!(both("stage", "production").as_deref(), Some("production"));
        assert_eq!(both("stage", "test").as_deref(), Some("stage"));
        assert_eq!(stricter(None, Some("test")).as_deref(), Some("test"));
        assert_eq!(stricter(Some("stage"), None).as_deref(), Some("stage"));
        assert_eq!(stricter(None, None), None);
    }

    #[test]
    fn what_is_called_production() {
        assert!(is_production("Production") && is_production("eu-prod") && is_production("live"));
        assert!(!is_production("product") && !is_production("stage"));
    }
}
