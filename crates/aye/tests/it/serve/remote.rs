//! From other machines, encrypted; and from other accounts of this one.

use std::process::Command;

use serde_json::Value;

use crate::cli::harness::{AYE, Place};
use crate::needs;

use super::client::GATE;
use super::examples::PAGE;

/// Runs a script in a place, with the program as `$AYE`; what it printed. Nothing without
/// the rights to have namespaces.
#[track_caller]
fn scripted(place: &Place, apart: &[&str], script: &str) -> Option<String> {
    if !needs::root("networks and accounts of our own") {
        return None;
    }
    let ran = Command::new("unshare")
        .args(apart)
        .args(["--fork", "--kill-child", "bash", "-euc", script])
        .current_dir(place.work())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        .env("HOME", place.path())
        .env("AYE_HOME", place.home())
        .env("AYE", AYE)
        .output()
        .unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{printed}{errors}");
    Some(printed)
}

/// The command of `docs/reference/server.md` that begins like this, as it stands there.
fn documented(start: &str) -> &'static str {
    PAGE.lines().find(|line| line.starts_with(start)).expect(start)
}

fn project() -> Place {
    let place = Place::new();
    place.write("skills/go.yaml", &format!("name: go\n{GATE}\n"));
    place.aye(&["trust", "--yes"]).ok();
    place
}

/// Starts the server with these options and knows where it is.
const SERVE: &str = r#"
serve() {
    rm -f first.json
    "$AYE" serve --json "$@" > first.json 2> said &
    until [ -s first.json ]; do kill -0 $!; sleep 0.05; done
    url=$(jq -r .url first.json)
    own=$(jq -r .token "$AYE_HOME/serve.json")
}
status() { curl -sS -o body -w '%{http_code}' "$@" || echo " curl $?"; }
"#;

/// Reads the first message of a socket over TLS.
const SOCKET: &str = r#"
import socket, ssl, sys
host, port, token, file = sys.argv[1:]
plain = socket.create_connection((host, int(port)), timeout=60)
stream = ssl.create_default_context(cafile=file).wrap_socket(plain, server_hostname=host)
stream.sendall(f"GET /ws HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    f"Authorization: Bearer {token}\r\n\r\n".encode())
heard = b""
while b'"you":"ann"' not in heard:
    more = stream.recv(4096)
    assert more, heard
    heard += more
print(heard.split(b"\r\n")[0].decode())
"#;

#[test]
fn people_reach_it_from_other_machines_encrypted() {
    let place = project();
    place.write("first.py", SOCKET);
    let curl = documented("curl --cacert");
    let script = format!(
        r#"{SERVE}
        ip link set lo up; ip addr add 192.0.2.7/32 dev lo; ip addr add 192.0.2.8/32 dev lo
        "$AYE" people add ann --rights answer,start,read --json > ann.json
        ann=$(jq -r .token ann.json)
        serve --listen 192.0.2.7:8740 --remote --tls-self-signed
        crt=$(jq -r .certificate first.json); port=${{url##*:}}
        echo "address ${{url%:*}}"
        echo "link $("$AYE" people link ann | sed "s/:$port/:PORT/;s/=.*/=SECRET/")"
        there() {{ status --cacert "$crt" --interface 192.0.2.8 "$@"; }}
        as() {{ echo "Authorization: Bearer $1"; }}
        echo "person $(there -H "$(as "$ann")" "$url/api/v1/runs")"
        cp "$crt" serve.crt; token=$ann
        echo "as documented $({curl} -sS | jq -c .runs)"
        echo "nobody $(there "$url/api/v1/runs")"
        echo "wrong $(there -H "$(as wrong)" "$url/api/v1/runs")"
        echo "account there $(there -H "$(as "$own")" "$url/api/v1/runs")"
        echo "account here $(status --cacert "$crt" -H "$(as "$own")" "$url/api/v1/runs")"
        hello='{{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {{"protocolVersion": "2025-11-25",
            "capabilities": {{}}, "clientInfo": {{"name": "t", "version": "1"}}}}}}'
        assistant=(-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d "$hello")
        echo "assistant here $(status --cacert "$crt" -H "$(as "$own")" "${{assistant[@]}}" "$url/mcp")"
        echo "assistant there $(there -H "$(as "$ann")" "${{assistant[@]}}" "$url/mcp")"
        echo "host $(there -H "$(as "$ann")" -H 'Host: evil.example' "$url/api/v1/runs")"
        echo "origin $(there -H "$(as "$ann")" -H 'Origin: https://evil.example' "$url/api/v1/runs")"
        echo "plain origin $(there -H "$(as "$ann")" -H "Origin: http://192.0.2.7:$port" "$url/api/v1/runs")"
        echo "own origin $(there -H "$(as "$ann")" -H "Origin: $url" "$url/api/v1/runs")"
        echo "unverified $(status -H "$(as "$ann")" "$url/api/v1/runs" 2>/dev/null)"
        echo "in the clear $(status "http://192.0.2.7:$port/healthz" 2>/dev/null | cut -d' ' -f1)"
        secret=$("$AYE" people link ann | sed 's/.*signin=//')
        there -D head -H 'Content-Type: application/json' -H "Origin: $url" -d "{{\"link\": \"$secret\"}}" "$url/api/v1/session" > /dev/null
        echo "cookie $(grep -i '^set-cookie' head | sed 's/.*; Path/Path/' | tr -d '\r')"
        echo "socket $(python3 first.py 192.0.2.7 "$port" "$ann" "$crt")"
        # The account's own link signs no browser of another machine in.
        file=$("$AYE" serve open --print)
        secret=$(grep -o 'signin=[0-9a-f]*' "$file" | head -1 | sed 's/signin=//')
        there -D head -H 'Content-Type: application/json' -H "Origin: $url" -d "{{\"link\": \"$secret\"}}" "$url/api/v1/session" > /dev/null
        cookie=$(grep -i '^set-cookie' head | sed 's/^[^:]*: //;s/;.*//')
        half=$(jq -r .secret body)
        echo "own browser there $(there -H "Cookie: $cookie" -H "X-Aye-Secret: $half" "$url/api/v1/runs")"
        kill %1"#
    );
    let Some(printed) = scripted(&place, &["--net"], &script) else { return };
    let expected = "address https://192.0.2.7
link https://192.0.2.7:PORT/#signin=SECRET
person 200
as documented []
nobody 401
wrong 401
account there 403
account here 200
assistant here 200
assistant there 403
host 403
origin 403
plain origin 403
own origin 200
unverified 000 curl 60
in the clear 000
cookie Path=/; HttpOnly; SameSite=Strict; Secure
socket HTTP/1.1 101 Switching Protocols
own browser there 403
";
    assert_eq!(printed, expected);
}

#[test]
fn a_certificate_can_be_given() {
    let place = project();
    let script = format!(
        r#"{SERVE}
        ip link set lo up
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem \
            -days 2 -subj /CN=given -addext subjectAltName=IP:127.0.0.1 2> /dev/null
        serve --listen 127.0.0.1:0 --tls-cert cert.pem --tls-key key.pem
        echo "${{url%:*}} $(status --cacert cert.pem -H "Authorization: Bearer $own" "$url/api/v1/runs")"
        echo "made: $(jq -r .certificate first.json) $(ls "$AYE_HOME" | grep -c serve.crt || true)"
        kill %1"#
    );
    let Some(printed) = scripted(&place, &["--net"], &script) else { return };
    assert_eq!(printed, "https://127.0.0.1 200\nmade: null 0\n");
}

#[test]
fn nobody_else_reaches_it_by_accident() {
    let place = project();
    for (args, code, said) in [
        (vec![], 2, "--remote"),
        (vec!["--remote"], 2, "--tls-self-signed"),
        (vec!["--tls-self-signed"], 2, "--remote"),
        (vec!["--remote", "--tls-self-signed"], 1, "aye people add"),
        (vec!["--remote", "--tls-cert", "cert.pem"], 2, "--tls-key"),
    ] {
        let all = [&["serve", "--listen", "192.0.2.1:0"], &args[..]].concat();
        let ran = place.aye(&all);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.all());
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.all());
    }
    place.aye(&["people", "add", "ann", "--rights", "read", "--json"]).ok();
    let every = place.aye(&["serve", "--listen", "0.0.0.0:0", "--remote", "--tls-self-signed"]);
    assert!(every.code == 2 && every.stderr.contains("--host"), "{}", every.all());
    place.write("cert.pem", "nonsense");
    let tls = ["--tls-cert", "cert.pem", "--tls-key", "cert.pem"];
    let wrong = place.aye(&[&["serve", "--listen", "127.0.0.1:0"], &tls[..]].concat());
    assert!(wrong.code == 1 && wrong.stderr.contains("cert.pem"), "{}", wrong.all());
}

#[test]
fn another_account_of_this_machine_is_who_the_kernel_says() {
    let place = project();
    let (install, curl) = (documented("install -d"), documented("curl --unix-socket"));
    let script = format!(
        r#"{SERVE}
        {{ cat /etc/passwd; echo 'aye-ann:x:4321:4321::/:/bin/sh'; }} > passwd
        mount --bind passwd /etc/passwd
        mount -t tmpfs none /run
        {install}
        shared=/run/aye
        "$AYE" people add ann --rights answer,start --account aye-ann --json > /dev/null
        chmod 777 "$shared"
        echo "$("$AYE" serve --listen 127.0.0.1:0 --socket "$shared/serve.sock" 2>&1 | head -1 | sed "s|$shared|DIR|g")"
        chmod 755 "$shared"
        serve --listen 127.0.0.1:0 --socket "$shared/serve.sock"
        api=http://localhost/api/v1
        by() {{ setpriv --reuid "$1" --regid "$1" --clear-groups curl -sS --unix-socket "$shared/serve.sock" "${{@:2}}"; }}
        echo "ann $(by 4321 $api/session | jq -c '[.name, .proof, .rights]')"
        echo "account $(by 0 $api/session | jq -c '[.name, .proof]')"
        echo "as documented $({curl} -sS | jq -c .questions)"
        echo "stranger $(by 4322 $api/session | jq -r '"\(.status) \(.detail)"')"
        echo "cannot pretend $(by 4322 -H "Authorization: Bearer $(printf %064d 0)" $api/session | jq -r .status)"
        echo "a page $(by 4321 -H 'Origin: http://localhost' $api/session | jq -r .status)"
        echo "assistants $(by 4321 http://localhost/mcp | jq -r .status)"
        "$AYE" run go --detach -q > /dev/null
        until by 4321 $api/questions | jq -e '.questions[0]' > question.json; do sleep 0.05; done
        question=$(jq -r .question question.json)
        jq '{{choice: "proceed", digest: .digest}}' question.json > answer.json
        chmod 644 answer.json
        echo "without a key $(by 4321 -H 'Content-Type: application/json' -d "$(cat answer.json)" $api/questions/$question/answer | jq -r .code)"
        echo "answered $(by 4321 -H 'Content-Type: application/json' -H 'Idempotency-Key: 1' -d "$(cat answer.json)" $api/questions/$question/answer | jq -r .state)"
        "$AYE" people remove ann > /dev/null
        echo "removed $(by 4321 $api/session | jq -r .status)"
        # A server that was killed leaves the socket; another takes its place.
        kill -9 %1; wait %1 2> /dev/null || true
        serve --listen 127.0.0.1:0 --socket "$shared/serve.sock"
        echo "again $(by 0 $api/session | jq -r .name)"
        kill %1"#
    );
    let Some(printed) = scripted(&place, &["--mount"], &script) else { return };
    let user = place.aye(&["auth", "status", "--json"]).json()["user"].as_str().unwrap().to_owned();
    let expected = format!(
        "error: `DIR` can be written by everyone: the socket could be exchanged
ann [\"ann\",\"local\",[\"answer\",\"start\"]]
account [\"{user}\",\"local\"]
as documented []
stranger 401 account `4322` is not a person of this server
cannot pretend 401
a page 403
assistants 403
without a key key_required
answered answered
removed 401
again {user}
"
    );
    assert_eq!(printed, expected);
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    let events = shown["events"].as_array().unwrap();
    let answered = events.iter().find(|event| event["type"] == "confirmation_answered").unwrap();
    let answer = &answered["answer"];
    let by = ["by", "proof", "prompter"].map(|name| answer[name].as_str().unwrap_or_default());
    assert_eq!(by, ["ann", "local", "command"], "{answered}");
    assert_eq!(Value::Null, answered["refused"]);
}
