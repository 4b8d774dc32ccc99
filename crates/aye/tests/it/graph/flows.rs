//! The flows that are drawn.

use aye_core::flow::Flow;
use aye_core::skill::{AskKind, EndStatus, OnError, Skill};

use super::build::{command, ending, gated, line, note, only_if, question, shell, state, states};

/// Five steps, two of which ask.
pub(super) fn release() -> Flow {
    let mut publish = only_if(
        gated(
            command("publish", "./publish {{ plan.sha }} --to production"),
            "Publish {{ plan.sha }}?",
        ),
        "where == 'production'",
    );
    publish.destructive = true;
    let mut announce = shell("announce", "curl -sS \"$HOOK\"\necho done");
    announce.on_error = Some(OnError::Continue);
    let mut flow = line(
        "release",
        vec![
            command("image", "registry check {{ inputs.commit }}"),
            question("where", AskKind::Choose, "Which environment?"),
            question("confirm_release", AskKind::Confirm, "Release {{ inputs.commit }} now?"),
            publish,
            announce,
        ],
    );
    flow.skill.description = Some("Promote a commit to production".to_owned());
    flow
}

/// The design's example: a gate, an exit code and a loop.
pub(super) fn deploy() -> Flow {
    states(
        "deploy",
        vec![
            state(
                command("build", "cargo build --release"),
                "success: confirm, failure: failed, timeout: failed, 101: lint",
            ),
            state(
                gated(command("confirm", "./deploy {{ branch }}"), "Deploy {{ branch }}?"),
                "success: done, failure: failed, declined: done",
            ),
            state(command("lint", "cargo clippy"), "success: build"),
            ending("done", EndStatus::Completed),
            ending("failed", EndStatus::Failed),
        ],
    )
}

/// Twelve states and several ways back.
pub(super) fn rollout() -> Flow {
    states(
        "rollout",
        vec![
            state(command("fetch", "git fetch --all --prune"), "success: test, failure: fetch"),
            state(
                command("test", "cargo nextest run"),
                "success: image, failure: diagnose, timeout: diagnose",
            ),
            state(
                question("diagnose", AskKind::Choose, "Tests fail. What now?"),
                "success: test, declined: abandoned",
            ),
            state(command("image", "docker build -t app ."), "success: scan, failure: failed"),
            state(command("scan", "trivy image app"), "success: canary, failure: review"),
            state(
                question("review", AskKind::Confirm, "Accept the findings?"),
                "success: canary, declined: image",
            ),
            state(
                gated(command("canary", "kubectl apply -f canary.yaml"), "Send 5% of traffic?"),
                "success: watch, failure: rollback, declined: abandoned",
            ),
            state(
                shell("watch", "sleep 300; ./slo --window 5m"),
                "success: promote, failure: rollback, 3: canary",
            ),
            state(
                gated(
                    command("promote", "kubectl apply -f app.yaml"),
                    "All traffic to {{ image }}?",
                ),
                "success: done, failure: rollback, timeout: rollback, declined: watch",
            ),
            state(
                command("rollback", "kubectl rollout undo app"),
                "success: fetch, failure: failed",
            ),
            ending("done", EndStatus::Completed),
            ending("failed", EndStatus::Failed),
            ending("abandoned", EndStatus::Cancelled),
        ],
    )
}

/// Sixty steps, every twelfth with a gate.
pub(super) fn long() -> Flow {
    let step = |at: usize| {
        let step = command(&format!("step_{at:02}"), &format!("./migrate --shard {at}"));
        if at % 12 == 5 { gated(step, "Continue with the next shards?") } else { step }
    };
    line("migrate", (1..=60).map(step).collect())
}

/// A step that asks, and two that follow however the run ends.
pub(super) fn tidied() -> Flow {
    let body = line("tidied", vec![gated(command("copy", "./copy"), "Copy now?")]);
    let finally = vec![command("unlock", "./unlock"), command("report", "./report")];
    Flow::compile(Skill { finally, ..body.skill })
}

/// One state that leads nowhere.
pub(super) fn single() -> Flow {
    states("single", vec![state(command("only", "true"), "")])
}

/// A run that is over at once.
pub(super) fn only_an_end() -> Flow {
    states("nothing", vec![ending("done", EndStatus::Completed)])
}

/// Names and words that try to be more than that.
pub(super) fn hostile() -> Flow {
    let name = "a\"]; click n0 \"javascript:alert(1)\" <script>alert('x')</script>";
    states(
        "evil\u{202e} \"}\n%%{init: {}}%% --> <b>",
        vec![
            state(
                gated(
                    command(name, "sh -c `id` \\N &lt; &amp; #quot; ```"),
                    "**bold** [x](http://y) www.example.com\n\n1. list\u{1b}[31m",
                ),
                "success: 部署到生产环境 🚀, failure: end",
            ),
            state(
                shell("部署到生产环境 🚀", "echo \"\u{200b}\u{7}\" | sed 's/\\\\/\"/'"),
                "success: subgraph",
            ),
            state(note("subgraph"), "success: ]]>"),
            state(note("lost"), "success: end"),
            ending("end", EndStatus::Failed),
            ending("]]>", EndStatus::Cancelled),
        ],
    )
}
