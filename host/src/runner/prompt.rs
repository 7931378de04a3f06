//! What the agent is told: the task, the terms, what is remembered, and what the gate said last.

use std::path::Path;

use crate::engine::{Brief, Prd};

/// How many open stories are listed, and how much of each.
const STORIES: usize = 50;
const STORY: usize = 200;

/// What a prompt is made from.
pub(super) struct Material<'m> {
    pub(super) task: &'m str,
    pub(super) brief: &'m Brief,
    pub(super) memory: &'m Path,
    pub(super) prd: Option<&'m Prd>,
    /// The checks that must pass for a mark to count.
    pub(super) proofs: &'m [&'m str],
    /// The end of the progress log.
    pub(super) learned: &'m str,
    /// What the gate said about the last iteration.
    pub(super) feedback: Option<&'m str>,
}

/// The whole prompt. What the gate says stands last, so that an agent which repeats its prompt never ends with what
/// somebody wrote into the task.
pub(super) fn write(material: &Material<'_>) -> String {
    let mut text = String::new();
    section(&mut text, "Task", material.task);
    if let Some(prd) = material.prd {
        section(&mut text, "Checklist", &stories(prd, material));
    }
    let memory = material.memory.display();
    section(
        &mut text,
        "Memory",
        &format!(
            "You begin with an empty context; this is what earlier iterations left for you. Add what later ones should \
             know to {memory}/progress.txt. Nothing else in that folder may be changed{}.",
            if material.prd.is_some() {
                ", but for the checklist"
            } else {
                ""
            },
        ),
    );
    if !material.learned.trim().is_empty() {
        section(&mut text, "Learned so far", material.learned);
    }
    if let Some(feedback) = material.feedback {
        section(&mut text, "What came of the last iteration", feedback);
    }
    section(&mut text, "Terms", &material.brief.text);
    // An agent may have written it into its memory, and no argument can hold it.
    text.replace('\0', "\u{fffd}")
}

fn section(text: &mut String, title: &str, body: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("# {title}\n\n{}\n", body.trim_end()));
}

fn stories(prd: &Prd, material: &Material<'_>) -> String {
    let mut text = format!(
        "{} of {} stories pass. The list is {}/prd.json; set `passes` of a story when it is done.\n",
        prd.passed,
        prd.total,
        material.memory.display()
    );
    if !material.proofs.is_empty() {
        text.push_str(&format!(
            "A mark counts when these checks pass at the end of the same iteration: {}. Otherwise it is reset.\n",
            material.proofs.join(", ")
        ));
    }
    let open: Vec<_> = prd.items.iter().filter(|item| !item.passes).collect();
    for item in open.iter().take(STORIES) {
        let story = format!("{}: {}", item.id, item.title);
        let story: String = story.chars().take(STORY).collect();
        text.push_str(&format!("- {}\n", story.replace('\n', " ")));
    }
    if open.len() > STORIES {
        text.push_str(&format!("- and {} more\n", open.len() - STORIES));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_stand_last() {
        let brief = Brief {
            iteration: 2,
            token: None,
            text: "This is iteration 2 of at most 5.\n".into(),
        };
        let text = write(&Material {
            task: "Do it. End with <promise>DONE</promise>",
            brief: &brief,
            memory: Path::new(".ralph/x"),
            prd: None,
            proofs: &[],
            learned: "",
            feedback: Some("Not done."),
        });
        assert!(text.starts_with("# Task\n\nDo it."), "{text}");
        assert!(
            text.ends_with("# Terms\n\nThis is iteration 2 of at most 5.\n"),
            "{text}"
        );
        assert!(
            text.contains("# What came of the last iteration\n\nNot done.\n"),
            "{text}"
        );
        assert!(!text.contains("Learned"), "{text}");
    }

    #[test]
    fn what_an_agent_wrote_into_its_memory_can_be_handed_over() {
        let brief = Brief {
            iteration: 1,
            token: None,
            text: String::new(),
        };
        let prd = Prd {
            shape: crate::engine::PrdShape::Items,
            items: vec![crate::engine::PrdItem {
                id: "a".into(),
                title: "x\ny".repeat(10_000),
                passes: false,
            }],
            passed: 0,
            total: 1,
            warnings: Vec::new(),
        };
        let text = write(&Material {
            task: "",
            brief: &brief,
            memory: Path::new("m"),
            prd: Some(&prd),
            proofs: &[],
            learned: "a\0b",
            feedback: None,
        });
        assert!(!text.contains('\0') && text.contains("a\u{fffd}b"));
        assert!(text.len() < 2_000, "{}", text.len());
    }
}
