#[test]
#[ignore]
fn dump() {
    for path in std::fs::read_to_string(std::env::var("SNAP").unwrap())
        .unwrap()
        .lines()
    {
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::write(format!("{path}.out"), crate::skill::check(&text)).unwrap();
    }
}
