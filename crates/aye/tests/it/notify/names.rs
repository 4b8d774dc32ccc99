//! Names resolve on any host: with the host's own `getent`, and without it.

use std::process::Command;

use super::place_with;
use super::receiver::Receiver;
use crate::cli::harness::AYE;
use crate::needs;

/// A namespace in which `/etc/hosts`, `/etc/resolv.conf` and `/etc/nsswitch.conf`
/// are ours, and a DNS server that knows one name.
fn tried(name: &str, without_getent: bool) {
    if !needs::root("a name server of our own on port 53") {
        return;
    }
    let receiver = Receiver::new();
    let place = place_with("");
    place.write("etc/hosts", "127.0.0.1 localhost\n127.0.0.1 from-hosts.example\n");
    place.write("etc/resolv.conf", "nameserver 127.0.0.1\n");
    place.write("etc/nsswitch.conf", "hosts: files dns\n");
    // Plain HTTP goes to this machine only, so it is the error that tells: a name
    // that resolves gets as far as the connection.
    let config =
        format!("[notify.hook]\nkind = \"webhook\"\nurl = \"https://{name}:{}/\"\n", receiver.port);
    super::configure(&place, &config);
    let hide = match without_getent {
        true => "mount --bind /dev/null /usr/bin/getent",
        false => "true",
    };
    let script = format!(
        "set -e
        for file in hosts resolv.conf nsswitch.conf; do
            [ -e /etc/$file ] || touch /etc/$file
            mount --bind etc/$file /etc/$file
        done
        {hide}
        python3 '{dns}' from-dns.example 127.0.0.1 > dns.out & dns=$!
        while ! grep -q up dns.out; do sleep 0.05; done
        '{AYE}' notify test hook || true
        kill $dns",
        dns = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/notify/dns.py"),
    );
    // Port 53 of the machine may be taken: a network of its own, with the
    // receiver's port listening inside.
    let ran = Command::new("unshare")
        .args(["--mount", "--net", "--fork", "--kill-child", "bash", "-c"])
        .arg(format!("ip link set lo up; {script}"))
        .current_dir(place.work())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        .env("HOME", place.path())
        .env("AYE_HOME", place.home())
        .output()
        .unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    // Nobody listens in there; an unknown name would be told as one.
    let known = said.contains("Connection refused");
    assert_eq!(known, !name.starts_with("nowhere"), "{name}: {said}");
    if !known {
        assert!(said.contains("not known") || said.contains("lookup"), "{said}");
    }
}

#[test]
fn a_name_of_the_hosts_file_resolves() {
    tried("from-hosts.example", false);
    tried("from-hosts.example", true);
}

#[test]
fn a_name_of_the_dns_resolves() {
    tried("from-dns.example", false);
    tried("from-dns.example", true);
}

#[test]
fn a_name_of_nobody_is_told_as_one() {
    tried("nowhere.example", false);
}
