//! Pictures of flows.

mod build;
mod flows;
mod sound;

use aye::graph;
use aye_core::flow::Flow;

/// Plain, as in a file.
fn plain(flow: &Flow) -> String {
    graph::text(flow, 78, false, true)
}

fn ascii(flow: &Flow) -> String {
    graph::text(flow, 78, false, false)
}

#[test]
fn text_of_a_line_with_gates() {
    insta::assert_snapshot!(plain(&flows::release()), @r#"
    release  Promote a commit to production

      ▸ image            registry check {{ inputs.commit }}
      ? where            Which environment?
      ? confirm_release  Release {{ inputs.commit }} now?
      │ └ declined → cancelled
      │
      ▸ publish          ./publish {{ plan.sha }} --to production
      │ if where == 'production'
      │ ⚑ asks first  Publish {{ plan.sha }}?
      │ destructive
      │ └ declined → cancelled
      │
      $ announce         curl -sS "$HOOK" …
      │ continues after a failure
      │
      ■ end
    "#);
}

#[test]
fn text_of_states_with_a_loop() {
    insta::assert_snapshot!(plain(&flows::deploy()), @r#"
    deploy

      ▸ build    cargo build --release
      │ ├ 101 → lint
      │ └ failure, timeout → failed
      │
      ▸ confirm  ./deploy {{ branch }}
      │ ⚑ asks first  Deploy {{ branch }}?
      │ ├ declined → done
      │ └ failure → failed
      │
      ■ done     completed

      ▸ lint     cargo clippy
      ╰ ↻ build

      ■ failed
    "#);
}

#[test]
fn text_of_many_states() {
    insta::assert_snapshot!(plain(&flows::rollout()), @r#"
    rollout

      ▸ fetch      git fetch --all --prune
      │ └ failure ↻ fetch
      │
      ▸ test       cargo nextest run
      │ └ failure, timeout → diagnose
      │
      ▸ image      docker build -t app .
      │ └ failure → failed
      │
      ▸ scan       trivy image app
      │ └ failure → review
      │
      ▸ canary     kubectl apply -f canary.yaml
      │ ⚑ asks first  Send 5% of traffic?
      │ ├ failure → rollback
      │ └ declined → abandoned
      │
      $ watch      sleep 300; ./slo --window 5m
      │ ├ 3 ↻ canary
      │ └ failure → rollback
      │
      ▸ promote    kubectl apply -f app.yaml
      │ ⚑ asks first  All traffic to {{ image }}?
      │ ├ failure, timeout → rollback
      │ └ declined ↻ watch
      │
      ■ done       completed

      ? diagnose   Tests fail. What now?
      │ └ declined → abandoned
      ╰ ↻ test

      ? review     Accept the findings?
      │ └ declined ↻ image
      ╰ ↻ canary

      ▸ rollback   kubectl rollout undo app
      │ └ failure → failed
      ╰ ↻ fetch

      ■ failed

      ■ abandoned  cancelled
    "#);
}

#[test]
fn text_in_ascii() {
    insta::assert_snapshot!(ascii(&flows::deploy()), @r#"
    deploy

      > build    cargo build --release
      | |- 101 -> lint
      | `- failure, timeout -> failed
      |
      > confirm  ./deploy {{ branch }}
      | ! asks first  Deploy {{ branch }}?
      | |- declined -> done
      | `- failure -> failed
      |
      # done     completed

      > lint     cargo clippy
      `-> build (again)

      # failed
    "#);
    insta::assert_snapshot!(ascii(&flows::release()), @r#"
    release  Promote a commit to production

      > image            registry check {{ inputs.commit }}
      ? where            Which environment?
      ? confirm_release  Release {{ inputs.commit }} now?
      | `- declined -> cancelled
      |
      > publish          ./publish {{ plan.sha }} --to production
      | if where == 'production'
      | ! asks first  Publish {{ plan.sha }}?
      | destructive
      | `- declined -> cancelled
      |
      $ announce         curl -sS "$HOOK" ..
      | continues after a failure
      |
      # end
    "#);
}

#[test]
fn text_of_one_state() {
    insta::assert_snapshot!(plain(&flows::single()), @r#"
    single

      ▸ only  true
      ■ end
    "#);
}

#[test]
fn text_of_hostile_words() {
    insta::assert_snapshot!(plain(&flows::hostile()), @r#"
    evil� "} %%{init: {}}%% --> <b>

      ▸ a"]; click n0 "javascript:a…  sh -c `id` \N &lt; &amp; #quot; ```
      │ ⚑ asks first  **bold** [x](http://y) www.example.com 1. list�[31m
      │ └ failure, declined → end
      │
      $ 部署到生产环境 🚀  echo "��" | sed 's/\\/"/'
      · subgraph
      ■ ]]>                cancelled

      ■ end                failed

      · lost  unreachable
      ╰ → end
    "#);
}

#[test]
fn text_on_a_narrow_terminal() {
    insta::assert_snapshot!(graph::text(&flows::release(), 32, false, true), @r#"
    release  Promote a commit to pr…

      ▸ image      registry check {…
      ? where      Which environmen…
      ? confirm_release  Release {{…
      │ └ declined → cancelled
      │
      ▸ publish    ./publish {{ pla…
      │ if where == 'production'
      │ ⚑ asks first  Publish {{ pl…
      │ destructive
      │ └ declined → cancelled
      │
      $ announce   curl -sS "$HOOK"…
      │ continues after a failure
      │
      ■ end
    "#);
}

#[test]
fn text_in_colour() {
    insta::assert_snapshot!(graph::text(&flows::deploy(), 78, true, true).replace('\x1b', "^"), @r#"
    ^[1mdeploy^[0m

    ^[36m  ▸ ^[0m^[1mbuild^[0m^[2m    cargo build --release^[0m
    ^[2m  │ ^[0m^[2m├ ^[0m^[36m101 ^[0m^[2m→ ^[0mlint
    ^[2m  │ ^[0m^[2m└ ^[0m^[31mfailure, timeout ^[0m^[2m→ ^[0mfailed
    ^[2m  │^[0m
    ^[36m  ▸ ^[0m^[1mconfirm^[0m^[2m  ./deploy {{ branch }}^[0m
    ^[2m  │ ^[0m^[33m⚑ asks first^[0m^[2m  Deploy {{ branch }}?^[0m
    ^[2m  │ ^[0m^[2m├ ^[0m^[33mdeclined ^[0m^[2m→ ^[0mdone
    ^[2m  │ ^[0m^[2m└ ^[0m^[31mfailure ^[0m^[2m→ ^[0mfailed
    ^[2m  │^[0m
    ^[32m  ■ ^[0m^[1mdone^[0m^[2m     completed^[0m

    ^[36m  ▸ ^[0m^[1mlint^[0m^[2m     cargo clippy^[0m
    ^[2m  ╰ ^[0m^[36m↻ ^[0mbuild

    ^[31m  ■ ^[0m^[1mfailed^[0m
    "#);
}

#[test]
fn mermaid_of_a_line_with_gates() {
    insta::assert_snapshot!(graph::mermaid(&flows::release()), @r#"
    flowchart TD
      start((" "))
      n0["image<br/>registry check #123;#123; inputs.commit #125;#125;"]
      n1{{"where<br/>Which environment#63;"}}
      n2{{"confirm_release<br/>Release #123;#123; inputs.commit #125;#125; now#63;"}}
      n3["publish<br/>if where #61;#61; #39;production#39;<br/>⚑ asks first#58; Publish #123;#123; plan.sha #125;#125;#63;<br/>#46;#47;publish #123;#123; plan.sha #125;#125; #45;#45;to production<br/>destructive"]
      n4[["announce<br/>curl #45;sS #34;#36;HOOK#34; …<br/>continues after a failure"]]
      n5(["end"])
      n6(["cancelled"])
      n7(["cancelled"])
      start --> n0
      n0 --> n1
      n1 --> n2
      n2 --> n3
      n2 -.->|"declined"| n6
      n3 --> n4
      n3 -.->|"declined"| n7
      n4 --> n5
      classDef command fill:#eef2f7,stroke:#64748b,color:#0f172a
      classDef question fill:#fef3c7,stroke:#b45309,color:#451a03
      classDef gate fill:#eef2f7,stroke:#d97706,stroke-width:3px,color:#0f172a
      classDef note fill:#f8fafc,stroke:#94a3b8,stroke-dasharray:3 3,color:#334155
      classDef completed fill:#dcfce7,stroke:#15803d,color:#052e16
      classDef failed fill:#fee2e2,stroke:#b91c1c,color:#450a0a
      classDef cancelled fill:#f1f5f9,stroke:#64748b,stroke-dasharray:4 3,color:#1e293b
      classDef start fill:#64748b,stroke:#64748b
      classDef unreached opacity:0.5
      class start start
      class n0 command
      class n1 question
      class n2 question
      class n3 gate
      class n4 command
      class n5 completed
      class n6 cancelled
      class n7 cancelled
    "#);
}

#[test]
fn mermaid_of_hostile_words() {
    insta::assert_snapshot!(graph::mermaid(&flows::hostile()), @r##"
    flowchart TD
      start((" "))
      n0["a#34;#93;#59; click n0 #34;javascript#58;alert#40;1#41;#34; #60;script…<br/>⚑ asks first#58; #42;#42;bold#42;#42; #91;x#93;#40;http#58;#47;#47;y#41; www#46;ex…<br/>sh #45;c #96;id#96; #92;N #38;lt#59; #38;amp#59; #35;quot#59; #96;#96;#96;"]
      n1[["部署到生产环境 🚀<br/>echo #34;��#34; #124; sed #39;s#47;#92;#92;#47;#34;#47;#39;"]]
      n2("subgraph")
      n3("lost")
      n4(["end"])
      n5(["#93;#93;#62;"])
      start --> n0
      n0 -->|"success"| n1
      n0 -->|"failure, declined"| n4
      n1 -->|"success"| n2
      n2 -->|"success"| n5
      n3 -->|"success"| n4
      classDef command fill:#eef2f7,stroke:#64748b,color:#0f172a
      classDef question fill:#fef3c7,stroke:#b45309,color:#451a03
      classDef gate fill:#eef2f7,stroke:#d97706,stroke-width:3px,color:#0f172a
      classDef note fill:#f8fafc,stroke:#94a3b8,stroke-dasharray:3 3,color:#334155
      classDef completed fill:#dcfce7,stroke:#15803d,color:#052e16
      classDef failed fill:#fee2e2,stroke:#b91c1c,color:#450a0a
      classDef cancelled fill:#f1f5f9,stroke:#64748b,stroke-dasharray:4 3,color:#1e293b
      classDef start fill:#64748b,stroke:#64748b
      classDef unreached opacity:0.5
      class start start
      class n0 gate
      class n1 command
      class n2 note
      class n3 note
      class n3 unreached
      class n4 failed
      class n5 cancelled
    "##);
}

#[test]
fn mermaid_of_states_with_a_loop() {
    insta::assert_snapshot!(links(&graph::mermaid(&flows::deploy())), @r#"
    flowchart TD
      start((" "))
      n0["build<br/>cargo build #45;#45;release"]
      n1["confirm<br/>⚑ asks first#58; Deploy #123;#123; branch #125;#125;#63;<br/>#46;#47;deploy #123;#123; branch #125;#125;"]
      n2["lint<br/>cargo clippy"]
      n3(["done"])
      n4(["failed"])
      start --> n0
      n0 -->|"success"| n1
      n0 -->|"101"| n2
      n0 -->|"failure, timeout"| n4
      n1 -->|"success, declined"| n3
      n1 -->|"failure"| n4
      n2 -->|"success"| n0
    "#);
}

#[test]
fn dot_of_states_with_a_loop() {
    insta::assert_snapshot!(graph::dot(&flows::deploy()), @r##"
    digraph flow {
      graph [label="deploy", labelloc=t, fontname=Helvetica, rankdir=TB]
      node [fontname=Helvetica, fontsize=11, style=filled, shape=box]
      edge [fontname=Helvetica, fontsize=9]
      start [label="", shape=circle, width=0.18, fillcolor="#64748b", color="#64748b"]
      n0 [label="build\ncargo build --release", shape=box, style="filled", fillcolor="#eef2f7", color="#64748b", fontcolor="#0f172a"]
      n1 [label="confirm\n⚑ asks first: Deploy {{ branch }}?\n./deploy {{ branch }}", shape=box, style="filled,bold", fillcolor="#eef2f7", color="#d97706", fontcolor="#0f172a"]
      n2 [label="lint\ncargo clippy", shape=box, style="filled", fillcolor="#eef2f7", color="#64748b", fontcolor="#0f172a"]
      n3 [label="done", shape=box, style="filled,rounded", fillcolor="#dcfce7", color="#15803d", fontcolor="#0f172a"]
      n4 [label="failed", shape=box, style="filled,rounded", fillcolor="#fee2e2", color="#b91c1c", fontcolor="#0f172a"]
      start -> n0
      n0 -> n1 [label="success", color="#475569", fontcolor="#475569"]
      n0 -> n2 [label="101", color="#2563eb", fontcolor="#2563eb"]
      n0 -> n4 [label="failure, timeout", color="#b91c1c", fontcolor="#b91c1c"]
      n1 -> n3 [label="success, declined", color="#475569", fontcolor="#475569"]
      n1 -> n4 [label="failure", color="#b91c1c", fontcolor="#b91c1c"]
      n2 -> n0 [label="success", color="#475569", fontcolor="#475569"]
    }
    "##);
}

#[test]
fn dot_of_hostile_words() {
    insta::assert_snapshot!(graph::dot(&flows::hostile()), @r##"
    digraph flow {
      graph [label="evil� \"} %%{init: {}}%% --> <b>", labelloc=t, fontname=Helvetica, rankdir=TB]
      node [fontname=Helvetica, fontsize=11, style=filled, shape=box]
      edge [fontname=Helvetica, fontsize=9]
      start [label="", shape=circle, width=0.18, fillcolor="#64748b", color="#64748b"]
      n0 [label="a\"]; click n0 \"javascript:alert(1)\" <script>ale…\n⚑ asks first: **bold** [x](http://y) www.exampl…\nsh -c `id` \\N &amp;lt; &amp;amp; #quot; ```", shape=box, style="filled,bold", fillcolor="#eef2f7", color="#d97706", fontcolor="#0f172a"]
      n1 [label="部署到生产环境 🚀\necho \"��\" | sed 's/\\\\/\"/'", shape=box, style="filled", fillcolor="#eef2f7", color="#64748b", fontcolor="#0f172a"]
      n2 [label="subgraph", shape=note, style="filled", fillcolor="#f8fafc", color="#94a3b8", fontcolor="#0f172a"]
      n3 [label="lost", shape=note, style="filled", fillcolor="#f8fafc", color="#94a3b8", fontcolor="#94a3b8"]
      n4 [label="end", shape=box, style="filled,rounded", fillcolor="#fee2e2", color="#b91c1c", fontcolor="#0f172a"]
      n5 [label="]]>", shape=box, style="filled,rounded,dashed", fillcolor="#f1f5f9", color="#64748b", fontcolor="#0f172a"]
      start -> n0
      n0 -> n1 [label="success", color="#475569", fontcolor="#475569"]
      n0 -> n4 [label="failure, declined", color="#b91c1c", fontcolor="#b91c1c"]
      n1 -> n2 [label="success", color="#475569", fontcolor="#475569"]
      n2 -> n5 [label="success", color="#475569", fontcolor="#475569"]
      n3 -> n4 [label="success", color="#475569", fontcolor="#475569"]
    }
    "##);
}

#[test]
fn svg_of_one_state() {
    insta::assert_snapshot!(without_style(&graph::svg(&flows::single())), @r##"
    <svg xmlns="http://www.w3.org/2000/svg" class="aye-flow" role="img" aria-label="single" width="208" height="254" viewBox="0 0 208 254" font-family="ui-sans-serif,system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif">

    <rect class="page" fill="#fff" width="208" height="254"/>
    <text class="title" fill="#0f172a" font-size="15" font-weight="600" x="24" y="36">single</text>
    <g transform="translate(24 58)">
    <path class="wire good" fill="none" stroke="#94a3b8" stroke-width="1.5" stroke-linecap="round" d="M80 12L80 38"/>
    <path class="head good" fill="#94a3b8" d="M80 42L76 34L84 34Z"/>
    <path class="wire good implied" fill="none" stroke="#94a3b8" stroke-width="1.5" stroke-linecap="round" stroke-dasharray="4 4" d="M80 92L80 140"/>
    <path class="head good" fill="#94a3b8" d="M80 144L76 136L84 136Z"/>
    <circle class="dot" fill="#64748b" cx="80" cy="6" r="6"/>
    <g class="command">
    <title>only
    true</title>
    <path class="box" fill="#f8fafc" stroke="#cbd5e1" stroke-width="1.2" d="M7 42h146a7 7 0 0 1 7 7v36a7 7 0 0 1 -7 7h-146a7 7 0 0 1 -7 -7v-36a7 7 0 0 1 7 -7z"/>
    <path class="sign" fill="#64748b" font-size="13" font-weight="600" d="M15 54l8.5 5l-8.5 5z"/>
    <text class="name" fill="#0f172a" font-size="13" font-weight="600" x="34" y="63.5">only</text>
    <text class="detail" fill="#64748b" font-size="10.5" font-family="ui-monospace,'SF Mono',Menlo,'DejaVu Sans Mono',monospace" x="34" y="80.5">true</text>
    </g>
    <g class="completed" data-end="after" data-after="only">
    <title>end</title>
    <path class="box" fill="#f0fdf4" stroke="#15803d" stroke-width="1.2" d="M58 144h44a14 14 0 0 1 14 14v0a14 14 0 0 1 -14 14h-44a14 14 0 0 1 -14 -14v-0a14 14 0 0 1 14 -14z"/>
    <g text-anchor="middle">
    <text class="name" fill="#15803d" font-size="13" font-weight="600" x="80" y="162.5">end</text>
    </g>
    </g>
    <rect class="page" fill="#fff" x="55.4" y="110.5" width="49.3" height="15" rx="4"/>
    <text class="label good" fill="#64748b" font-size="10.5" text-anchor="middle" x="80" y="121.5">success</text>
    </g>
    </svg>
    "##);
}

/// Wherever a run ends, `finally` follows: its steps do not stand apart.
#[test]
fn mermaid_of_finally() {
    insta::assert_snapshot!(links(&graph::mermaid(&flows::tidied())), @r#"
    flowchart TD
      start((" "))
      n0["copy<br/>⚑ asks first#58; Copy now#63;<br/>#46;#47;copy"]
      n1["unlock<br/>#46;#47;unlock<br/>finally"]
      n2["report<br/>#46;#47;report<br/>finally"]
      n3(["end"])
      n4(["cancelled"])
      start --> n0
      n0 --> n3
      n0 -.->|"declined"| n4
      n1 --> n2
      n3 -.-> n1
      n4 -.-> n1
    "#);
}

#[test]
fn svg_places_finally_below_every_end() {
    let picture = graph::svg(&flows::tidied());
    let document = roxmltree::Document::parse(&picture).unwrap();
    // Where the outline of a box begins: the upper edge.
    let top = |wanted: &str| -> f64 {
        let group = document.descendants().find(|node| {
            let title = node
                .children()
                .find(|child| child.has_tag_name(("http://www.w3.org/2000/svg", "title")));
            title
                .and_then(|title| title.text())
                .is_some_and(|text| text.lines().next() == Some(wanted))
        });
        let outline = group.unwrap().children().find(|node| node.attribute("class") == Some("box"));
        let words = outline.unwrap().attribute("d").unwrap();
        let (_, y) = words.split_once(' ').unwrap();
        y.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap().parse().unwrap()
    };
    for end in ["end", "cancelled"] {
        assert!(top(end) < top("unlock"), "{end}: {picture}");
    }
    assert!(top("unlock") < top("report"));
}

/// A terminal has no room for the arrows; the remark says it.
#[test]
fn text_of_finally() {
    insta::assert_snapshot!(plain(&flows::tidied()), @r"
    tidied

      ▸ copy       ./copy
      │ ⚑ asks first  Copy now?
      │ └ declined → cancelled
      │
      ■ end

      ▸ unlock     ./unlock
      │ finally
      │
      ▸ report     ./report
        finally
    ");
}

/// Without the classes, which are the same every time.
fn links(mermaid: &str) -> String {
    mermaid.lines().filter(|line| !line.starts_with("  class")).collect::<Vec<_>>().join("\n")
}

fn without_style(svg: &str) -> String {
    let (before, rest) = svg.split_once("<style>").expect("a style block");
    let (_, after) = rest.split_once("</style>").expect("its end");
    format!("{before}{after}")
}
