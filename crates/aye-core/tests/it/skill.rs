use aye_core::diagnostic::{Source, render, summary};
use aye_core::skill::parse;

#[test]
fn explore() {
    for file in std::env::var("EXPLORE").unwrap().split(':') {
        let text = std::fs::read_to_string(file).unwrap();
        let parsed = parse(file, &text);
        let source = Source::new(file, &text);
        for d in &parsed.diagnostics {
            print!("{}\n", render(d, &source, false));
        }
        println!("{:?} {}", summary(&parsed.diagnostics), parsed.skills.len());
        if std::env::var("DUMP").is_ok() {
            println!("{:#?}", parsed.skills);
        }
    }
}
