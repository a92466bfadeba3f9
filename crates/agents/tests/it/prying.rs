//! An agent that looks for the database, for other agents' folders and for their secrets in every way that is known
//! here (6.11), as root and as a plain user.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use agents::{EventKind, Hide, Sight, Spec, Turn};
use serde_json::json;

use crate::world::{LIMITS, World, scripted};

/// In the database, in another agent's folder, in another agent's environment.
const SECRETS: [&str; 3] = ["secret-in-db", "secret-in-folder", "secret-in-environment"];

/// Who the agents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    /// Whoever runs the tests.
    Own,
    /// Somebody without rights. Only root can try it.
    Nobody,
}

/// Id of the user who has no rights.
const NOBODY: u32 = 65_534;

impl User {
    fn holder(self) -> Vec<String> {
        let holder = [scripted(), "hold".to_owned()];
        let words = match self {
            Self::Own => "",
            Self::Nobody => "setpriv --reuid 65534 --regid 65534 --clear-groups",
        };
        words.split_whitespace().map(str::to_owned).chain(holder).collect()
    }

    fn own(self, folder: &Path) {
        match self {
            Self::Own => {}
            Self::Nobody => chown(folder, Some(NOBODY), Some(NOBODY)).unwrap(),
        }
    }
}

/// A data folder in which two agents have their folders; the second works and has a secret in its environment.
struct Neighbours {
    world: World,
    other: World,
    user: User,
}

impl Neighbours {
    async fn new(user: User, hidden: bool) -> Self {
        let world = World::with_holder(user.holder(), 64);
        let other = World::with_holder(user.holder(), 64);
        let data = world.path("data");
        for folder in [&data, &data.join("a"), &data.join("b")] {
            fs::create_dir(folder).unwrap();
            user.own(folder);
        }
        for (file, secret) in ["highwater.db", "b/mine"].iter().zip(SECRETS) {
            fs::write(data.join(file), secret).unwrap();
            user.own(&data.join(file));
        }
        for folder in [world.folder.path(), other.folder.path()] {
            user.own(folder);
        }
        let mut neighbours = Self { world, other, user };
        let mut spec = neighbours.spec("b", hidden, &json!({"prompt": [{"hang": true}]}));
        spec.env.push(("TOKEN".to_owned(), SECRETS[2].to_owned()));
        neighbours.other.in_turn(spec).await;
        neighbours
    }

    fn spec(&self, own: &str, hidden: bool, script: &serde_json::Value) -> Spec {
        let data = self.world.path("data");
        let world = if own == "a" { &self.world } else { &self.other };
        let mut spec = world.spec(script);
        spec.env.retain(|(name, _)| name != "SCRIPTED_LOG");
        spec.cwd = data.join(own);
        if hidden {
            spec.hide = Some(Hide { folder: data, but: spec.cwd.clone() });
        } else {
            spec.sight = Sight::All;
        }
        spec.limits = LIMITS;
        spec
    }

    /// What the first agent learns by each of these commands.
    async fn pry(mut self, hidden: bool, commands: &[String]) -> Vec<String> {
        let prompts: Vec<_> = commands.iter().map(|command| json!([{"sh": command}])).collect();
        let spec = self.spec("a", hidden, &json!({"prompts": prompts}));
        self.world.start(spec);
        let started = self.world.started().await;
        let mut learned = Vec::new();
        if hidden && !started.notices.is_empty() {
            eprintln!("SKIPPED for {:?}: this system refuses namespaces: {:?}", self.user, started.notices);
            learned.resize(commands.len(), "skipped".to_owned());
        }
        for (at, command) in commands.iter().enumerate().skip(learned.len()) {
            self.world.prompt(&format!("r{at}"), "look");
            self.world.next().await;
            let event = self.world.after_updates().await;
            let EventKind::TurnEnded { turn: Turn { text: Some(text), .. }, .. } = event else {
                panic!("{command}: {event:?}")
            };
            learned.push(text);
        }
        for name in ["highwater.db", "b/mine"] {
            assert!(self.world.path("data").join(name).exists(), "nothing was taken away");
        }
        self.world.finish().await;
        self.other.finish().await;
        learned
    }

    /// The ids of the server, the other agent's holder and the other agent.
    fn strangers(&self) -> [i32; 3] {
        let all = self.other.processes();
        let (first, last) = (all.iter().next().unwrap(), all.iter().last().unwrap());
        [i32::try_from(std::process::id()).unwrap(), *first, *last]
    }
}

/// Ways to what an agent must not see. In a script, `$D` is the data folder.
fn ways(neighbours: &Neighbours) -> Vec<String> {
    let data = neighbours.world.path("data");
    let secrets = "cat $R$D/highwater.db $R$D/b/mine";
    let each = "for p in /proc/[0-9]*; do R=$p/root; cat $R$D/highwater.db $R$D/b/mine $p/cwd/mine $p/cwd/../highwater.db; \
                grep -ao TOKEN=[a-z-]* $p/environ; for f in $p/fd/*; do [ -f $f ] && timeout 1 grep -aoE secret-in-[a-z]+ $f; done; done";
    let mut ways = vec![
        secrets.to_owned(),
        "cat $D/../data/highwater.db; cd $D/..; cat data/highwater.db data/b/mine; cat ../*/data/b/mine".to_owned(),
        "ls -R $D; find $D $D/.. -name mine -exec cat {} +".to_owned(),
        "ln -sf $D/highwater.db s; cat s; ln $D/highwater.db h; cat h; ln $D/b/mine h2; cat h2".to_owned(),
        "mv $D/b b; cat b/mine; rm -rf $D/b $D/highwater.db".to_owned(),
        each.to_owned(),
        "for f in /proc/self/fd/* /dev/fd/*; do [ -f $f ] && cat $f; done; ls -l /proc/self/fd".to_owned(),
        format!("umount -l $D; umount -l /proc; {secrets}; {each}"),
        format!("mount -o remount,rw $D; mount --move $D /mnt; mount --bind / /mnt && cat /mnt$D/highwater.db; {secrets}"),
        format!("unshare -m sh -c 'umount -l $D; {secrets}'"),
        format!("unshare -Urm sh -c 'umount -l $D; mount --move $D /tmp; {secrets}'"),
        "unshare -Urm sh -c 'mount --bind / /tmp; cat /tmp$D/highwater.db; mount --rbind / /tmp; cat /tmp$D/highwater.db'".to_owned(),
        format!("unshare -Urm sh -c 'umount -l /proc; {}'", each.replace('\'', "\"")),
        format!("unshare -Urpf --mount-proc sh -c '{}'", each.replace('\'', "\"")),
        "unshare -Urpf sh -c 'mount -t proc proc /tmp; cat /tmp/*/root$D/highwater.db'".to_owned(),
        format!("chroot /proc/1/root cat $D/highwater.db; chroot /proc/1/cwd cat mine; nsenter -t 1 -m -p -U sh -c '{secrets}'"),
        "strace -o t -p 1 & sleep 0.2; kill $!; cat t; gdb -p 1 -batch -ex 'info proc all' </dev/null; cat /proc/1/environ".to_owned(),
        format!("kill -9 1; kill -STOP 1; {secrets}"),
        format!("python3 -c '{BY_NUMBER}' {} {}", data.parent().unwrap().display(), fs::metadata(data.join("highwater.db")).unwrap().ino()),
    ];
    for stranger in neighbours.strangers() {
        ways.push(format!(
            "P=/proc/{stranger}; R=$P/root; {secrets}; cat $P/cwd/mine; grep -ao TOKEN=[a-z-]* $P/environ; nsenter -t {stranger} -m cat \
             $D/highwater.db"
        ));
    }
    let with_data = |way: String| format!("D={}; export D; {way}", data.display());
    ways.into_iter().map(with_data).collect()
}

/// What would do harm where an agent is not set apart.
const HARMFUL: [&str; 6] = ["rm -rf", "mv ", "mount", "kill", "unshare", "for p in"];

/// A command that does nothing but say so in the namespaces of the tests themselves.
fn guarded(way: &str) -> String {
    let own = |kind: &str| fs::read_link(format!("/proc/self/ns/{kind}")).unwrap().display().to_string();
    let same = |kind: &str| format!("[ $(readlink /proc/self/ns/{kind}) = '{}' ]", own(kind));
    format!("if {} || {}; then echo not apart; exit; fi; {way}", same("mnt"), same("pid"))
}

/// Opens a file by its number in the file system of a folder, as only root's rights allow.
const BY_NUMBER: &str = r#"
import ctypes, os, sys, struct
libc = ctypes.CDLL(None, use_errno=True)
handle = struct.pack("=Ii", 8, 1) + struct.pack("=II", int(sys.argv[2]), 0)
fd = libc.open_by_handle_at(os.open(sys.argv[1], os.O_RDONLY), ctypes.create_string_buffer(handle), os.O_RDONLY)
print(os.read(fd, 100) if fd >= 0 else os.strerror(ctypes.get_errno()))
"#;

/// Root tries it as root and as nobody; everybody else as themselves.
fn users() -> Vec<User> {
    let mut users = vec![User::Own];
    if agents::runs_as_root() {
        users.push(User::Nobody);
    }
    users
}

#[tokio::test]
async fn no_way_leads_to_the_database_or_to_other_agents() {
    for user in users() {
        let neighbours = Neighbours::new(user, true).await;
        let ways: Vec<String> = ways(&neighbours).iter().map(|way| guarded(way)).collect();
        for (way, learned) in ways.iter().zip(neighbours.pry(true, &ways).await) {
            let learned_nothing = SECRETS.iter().chain(&["not apart"]).all(|word| !learned.contains(word));
            assert!(learned_nothing, "{user:?}: {way}: {learned}");
        }
    }
}

/// Else the ways above would prove nothing.
#[tokio::test]
async fn the_ways_lead_there_where_nothing_is_hidden() {
    let neighbours = Neighbours::new(User::Own, false).await;
    let mut ways = ways(&neighbours);
    ways.retain(|way| HARMFUL.iter().all(|word| !way.contains(word)));
    let learned = neighbours.pry(false, &ways).await.concat();
    for secret in SECRETS {
        assert!(learned.contains(secret), "{secret} is nowhere in {learned}");
    }
}
