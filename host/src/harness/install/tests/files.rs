//! Where the settings are something else than a plain file that may be written.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::thread;

use ralph_gate_component::Word as _;

use super::*;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn files_and_folders_that_installing_made_go_again() {
    for harness in Harness::ALL.iter().copied() {
        let ground = Ground::new();
        let empty = ground.everything();
        let plan = ground.install(harness);
        assert_eq!(plan.changes.len(), 1);
        assert!(ground.install(harness).is_empty());
        ground.uninstall(harness);
        assert_eq!(ground.everything(), empty, "{harness}");
        assert!(ground.uninstall(harness).is_empty());
    }
}

#[test]
fn an_empty_folder_that_was_there_stays() {
    for harness in Harness::ALL.iter().copied() {
        let file = Path::new(harness.file(Scope::Project).unwrap());
        for folder in file
            .ancestors()
            .skip(1)
            .filter(|folder| folder.components().count() > 0)
        {
            let ground = Ground::new();
            fs::create_dir_all(ground.path("root").join(folder)).unwrap();
            let before = ground.everything();
            ground.install(harness);
            assert!(ground.install(harness).is_empty());
            ground.uninstall(harness);
            assert_eq!(ground.everything(), before, "{harness} {folder:?}");
        }
    }
}

#[test]
fn a_folder_with_something_else_in_it_stays() {
    let ground = Ground::new();
    ground.install(Harness::Copilot);
    fs::write(ground.path("root/.github/x"), "").unwrap();
    ground.uninstall(Harness::Copilot);
    assert!(ground.path("root/.github/x").exists());
    assert!(!ground.path("root/.github/hooks").exists());
}

#[test]
fn a_file_of_ours_with_something_else_in_it_stays() {
    let ground = Ground::new();
    ground.install(Harness::Cursor);
    let with = ground
        .read(Harness::Cursor)
        .replacen('{', "{\n  \"mine\": 1,", 1);
    ground.write(Harness::Cursor, &with);
    ground.uninstall(Harness::Cursor);
    assert_eq!(ground.read(Harness::Cursor), "{\n  \"mine\": 1\n}\n");
}

#[test]
fn the_diff_shows_the_change_and_nothing_is_written_before_it_is_applied() {
    let ground = Ground::new();
    ground.write(Harness::Cursor, "{\n  \"version\": 1\n}\n");
    let before = ground.everything();
    let plan = ground
        .plan(Harness::Cursor, Action::Install(wanted()))
        .unwrap();
    let path = ground.file(Harness::Cursor);
    let path = path.display();
    assert_eq!(
        plan.diff(),
        format!(
            "--- {path}\n+++ {path}\n@@ -1,3 +1,11 @@\n {{\n-  \"version\": 1\n+  \"version\": 1,\n+  \"hooks\": {{\n\
             +    \"stop\": [\n+      {{\n+        \"loop_limit\": 100,\n\
             +        \"command\": \"'/opt/my tools/it'\\\\''s/ralph-gate' hook cursor\"\n+      }}\n+    ]\n+  }}\n }}\n"
        )
    );
    assert_eq!(ground.everything(), before);
}

#[test]
fn nothing_is_written_if_the_file_changed_since_the_plan() {
    let ground = Ground::new();
    ground.write(Harness::Codex, "{\"a\": 1}");
    let install = ground
        .plan(Harness::Codex, Action::Install(wanted()))
        .unwrap();
    ground.write(Harness::Codex, "{\"a\": 2}");
    let error = install.apply().unwrap_err();
    assert!(
        error.to_string().ends_with("was changed in the meantime"),
        "{error}"
    );
    assert_eq!(ground.read(Harness::Codex), "{\"a\": 2}");
    fs::remove_file(ground.file(Harness::Codex)).unwrap();
    let create = ground
        .plan(Harness::Codex, Action::Install(wanted()))
        .unwrap();
    ground.write(Harness::Codex, "{}");
    assert!(matches!(create.apply(), Err(InstallError::Changed { .. })));
    assert_eq!(ground.read(Harness::Codex), "{}");
}

#[test]
fn the_mode_is_kept_and_no_other_file_is_left() {
    let ground = Ground::new();
    ground.write(Harness::Codex, "{\"a\": 1}");
    let file = ground.file(Harness::Codex);
    for wanted in [0o600, 0o644, 0o660, 0o755] {
        set_mode(&file, wanted);
        ground.install(Harness::Codex);
        assert_eq!(mode(&file), wanted);
        ground.uninstall(Harness::Codex);
        assert_eq!(mode(&file), wanted);
    }
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn the_owner_is_kept() {
    let ground = Ground::new();
    ground.write(Harness::Codex, "{}");
    let file = ground.file(Harness::Codex);
    // Only the superuser may give a file away; for others it stays their own.
    let _ = std::os::unix::fs::chown(&file, Some(4321), Some(4322));
    let owner = |path: &Path| {
        fs::metadata(path)
            .map(|found| (found.uid(), found.gid()))
            .unwrap()
    };
    let before = owner(&file);
    ground.install(Harness::Codex);
    assert_eq!(owner(&file), before);
}

#[test]
fn a_temporary_file_that_a_crash_left_is_stepped_over() {
    let ground = Ground::new();
    ground.write(Harness::Codex, "{}");
    let name = format!(".hooks.json.{}-0.new", std::process::id());
    let left = ground.file(Harness::Codex).with_file_name(name);
    fs::write(&left, "left").unwrap();
    ground.install(Harness::Codex);
    assert!(matches!(
        ground.status(Harness::Codex),
        Status::Installed { .. }
    ));
    assert_eq!(fs::read_to_string(left).unwrap(), "left");
}

#[test]
fn a_link_stays_and_what_it_leads_to_is_edited() {
    for (link, target) in [
        ("root/.codex/hooks.json", "home/dots/h.json"),
        ("root/.codex", "home/dots"),
    ] {
        let ground = Ground::new();
        fs::create_dir_all(ground.path(link).parent().unwrap()).unwrap();
        fs::create_dir(ground.path("home/dots")).unwrap();
        let text = "{\"a\": 1}";
        fs::write(ground.path("home/dots/h.json"), text).unwrap();
        fs::write(ground.path("home/dots/hooks.json"), text).unwrap();
        symlink(ground.path(target), ground.path(link)).unwrap();
        let plan = ground.install(Harness::Codex);
        assert!(plan.notes[0].contains("a link leads to "), "{plan:?}");
        assert!(ground.path(link).is_symlink());
        assert!(ground.read(Harness::Codex).contains("ralph-gate"));
        ground.uninstall(Harness::Codex);
        assert!(ground.path(link).is_symlink());
        assert_eq!(ground.read(Harness::Codex), text);
    }
}

#[test]
fn what_a_link_leads_to_is_never_removed() {
    let ground = Ground::new();
    ground.install(Harness::Codex);
    let moved = ground.path("home/h.json");
    fs::rename(ground.file(Harness::Codex), &moved).unwrap();
    symlink(&moved, ground.file(Harness::Codex)).unwrap();
    ground.uninstall(Harness::Codex);
    assert_eq!(fs::read_to_string(moved).unwrap(), "{\n}\n");
    assert!(ground.file(Harness::Codex).is_symlink());
}

#[test]
fn a_file_is_made_behind_a_linked_folder_and_the_link_stays_when_it_goes() {
    let ground = Ground::new();
    fs::create_dir(ground.path("home/dots")).unwrap();
    symlink(ground.path("home/dots"), ground.path("root/.codex")).unwrap();
    let before = ground.everything();
    ground.install(Harness::Codex);
    assert!(ground.path("home/dots/hooks.json").is_file());
    let left = ground.uninstall(Harness::Codex);
    assert!(left.notes[0].contains("a link leads to"));
    assert!(ground.path("root/.codex").is_symlink());
    assert_eq!(ground.everything(), before);
}

#[test]
fn a_link_out_of_the_project_and_the_home_is_refused() {
    let ground = Ground::new();
    fs::create_dir(ground.path("else")).unwrap();
    fs::write(ground.path("else/h.json"), "{}").unwrap();
    ground.write(Harness::Codex, "");
    fs::remove_file(ground.file(Harness::Codex)).unwrap();
    symlink(ground.path("else/h.json"), ground.file(Harness::Codex)).unwrap();
    let said = ground.refusal(Harness::Codex).to_string();
    assert!(
        said.ends_with("else/h.json, outside of the project and the home folder"),
        "{said}"
    );
    let folder = Ground::new();
    fs::create_dir(folder.path("else")).unwrap();
    symlink(folder.path("else"), folder.path("root/.codex")).unwrap();
    assert!(matches!(
        folder.refusal(Harness::Codex),
        InstallError::Refused {
            refusal: Refusal::Outside { .. },
            ..
        }
    ));
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    type Make = fn(&Path);
    let pipe: Make = |path| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
    };
    let circle: Make = |path| symlink(path, path).unwrap();
    let dangling: Make = |path| symlink("nothing", path).unwrap();
    let folder: Make = |path| fs::create_dir(path).unwrap();
    let cases = [
        (pipe, Refusal::Special),
        (circle, Refusal::Dangling),
        (dangling, Refusal::Dangling),
        (folder, Refusal::Folder),
    ];
    for (make, expected) in cases {
        let ground = Ground::new();
        let file = ground.file(Harness::Codex);
        fs::create_dir(file.parent().unwrap()).unwrap();
        make(&file);
        for action in [Action::Install(wanted()), Action::Uninstall] {
            let error = ground.plan(Harness::Codex, action).unwrap_err();
            assert!(
                matches!(&error, InstallError::Refused { refusal, .. } if *refusal == expected),
                "{error}"
            );
        }
        assert!(matches!(
            ground.status(Harness::Codex),
            Status::Unreadable(_)
        ));
    }
}

#[test]
fn a_parent_that_is_no_folder_is_refused() {
    let ground = Ground::new();
    fs::write(ground.path("root/.codex"), "").unwrap();
    let said = ground.refusal(Harness::Codex).to_string();
    assert!(said.ends_with("root/.codex is not a folder"), "{said}");
    let dangling = Ground::new();
    symlink("nothing", dangling.path("root/.codex")).unwrap();
    let said = dangling.refusal(Harness::Codex).to_string();
    assert!(
        said.ends_with("root/.codex is a link that leads nowhere"),
        "{said}"
    );
}

#[test]
fn what_is_read_only_is_refused_and_left_alone() {
    let ground = Ground::new();
    ground.write(Harness::Codex, "{}");
    let file = ground.file(Harness::Codex);
    set_mode(&file, 0o444);
    let said = ground.refusal(Harness::Codex).to_string();
    assert!(said.ends_with("hooks.json is read-only"), "{said}");
    set_mode(&file, 0o644);
    set_mode(file.parent().unwrap(), 0o555);
    let said = ground.refusal(Harness::Codex).to_string();
    assert!(said.ends_with(".codex is a read-only folder"), "{said}");
    set_mode(file.parent().unwrap(), 0o755);
    let missing = Ground::new();
    set_mode(&missing.path("root"), 0o555);
    let said = missing.refusal(Harness::Copilot).to_string();
    assert!(said.ends_with("root is a read-only folder"), "{said}");
    set_mode(&missing.path("root"), 0o755);
}

#[test]
fn a_read_only_file_in_which_nothing_is_to_do_is_no_error() {
    let ground = Ground::new();
    ground.install(Harness::Codex);
    set_mode(&ground.file(Harness::Codex), 0o444);
    assert!(ground.install(Harness::Codex).is_empty());
}

#[test]
fn settings_that_are_too_large_are_refused() {
    let ground = Ground::new();
    let most = usize::try_from(file::LARGEST).unwrap();
    ground.write(Harness::Codex, &format!("{{}}{}", " ".repeat(most - 2)));
    assert!(
        ground
            .plan(Harness::Codex, Action::Install(wanted()))
            .is_ok()
    );
    ground.write(Harness::Codex, &format!("{{}}{}", " ".repeat(most - 1)));
    let said = ground.refusal(Harness::Codex).to_string();
    assert!(
        said.ends_with("has 4194305 bytes; at most 4194304 are read"),
        "{said}"
    );
}

#[test]
fn another_name_of_the_file_is_told() {
    let ground = Ground::new();
    ground.write(Harness::Codex, "{}");
    fs::hard_link(ground.file(Harness::Codex), ground.path("root/other")).unwrap();
    let plan = ground.install(Harness::Codex);
    assert!(plan.notes[0].contains("hard links"), "{plan:?}");
    assert_eq!(fs::metadata(ground.path("root/other")).unwrap().nlink(), 1);
}

#[test]
fn a_reader_sees_the_old_settings_or_the_new_ones_and_nothing_between() {
    let ground = Ground::new();
    let old = format!("{{\"a\": \"{}\"}}", "x".repeat(200_000));
    ground.write(Harness::Codex, &old);
    let file = ground.file(Harness::Codex);
    let new = installed(&old, Harness::Codex);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..20 {
                ground.install(Harness::Codex);
                ground.uninstall(Harness::Codex);
            }
        });
        while !writer.is_finished() {
            let seen = fs::read_to_string(&file).unwrap();
            assert!(seen == old || seen == new, "{} bytes", seen.len());
        }
    });
}

#[test]
fn a_missing_root_is_an_error() {
    let ground = Ground::new();
    fs::remove_dir(ground.path("root")).unwrap();
    assert!(matches!(
        ground.refusal(Harness::Codex),
        InstallError::Disk { .. }
    ));
}
