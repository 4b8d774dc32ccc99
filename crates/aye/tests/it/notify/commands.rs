//! A command of the user, and `aye notify test`.

use super::{messages, place_with};

#[test]
fn a_command_gets_json_on_its_standard_input() {
    let place = place_with("[notify.mine]\nkind = \"command\"\ncommand = [\"./tell\", \"a b\"]\n");
    let tell = place.write("../.config/aye/tell", "#!/bin/sh\ncat > \"$HOME/$1.json\"\n");
    std::process::Command::new("chmod").arg("+x").arg(&tell).status().unwrap();
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    let told: serde_json::Value = serde_json::from_str(&place.read("../a b.json")).unwrap();
    assert_eq!(told["event"], "question");
    assert_eq!(told["title"], "gate: Really");
    assert_eq!(messages(&place)[0]["state"], "sent");
}

#[test]
fn what_a_failing_command_says_last_is_kept() {
    let place = place_with(
        "[notify.mine]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"echo no route >&2; exit 9\"]\n",
    );
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    let row = &messages(&place)[0];
    assert_eq!(row["state"], "waiting");
    assert_eq!(row["attempts"], 1);
    assert_eq!(row["result"], "it ended with exit code 9: no route");
    let shown = place.aye(&["show", "last"]).ok().stdout;
    assert!(shown.contains("question") && shown.contains("no route"), "{shown}");
    let doctor = place.aye(&["doctor"]).stdout;
    assert!(doctor.contains("`mine` (command") && doctor.contains("no route"), "{doctor}");
}

#[test]
fn a_channel_can_be_tried() {
    let place = place_with(
        "[notify.good]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"cat > \\\"$HOME/told\\\"\"]\n\
         [notify.bad]\nkind = \"command\"\ncommand = [\"false\"]\n",
    );
    let ran = place.aye(&["notify", "test", "good"]).ok();
    assert!(ran.stdout.contains("sent"), "{}", ran.all());
    assert!(place.read("../told").contains("this is a test"));
    let ran = place.aye(&["notify", "test", "--json"]);
    assert_eq!(ran.code, 1);
    let all = ran.json();
    assert_eq!(all[0]["channel"], "bad");
    assert_eq!(all[0]["error"], "it ended with exit code 1");
    assert_eq!(all[1]["sent"], true);
    let ran = place.aye(&["notify", "test", "nobody"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("there is no channel `nobody`"), "{}", ran.all());
}
