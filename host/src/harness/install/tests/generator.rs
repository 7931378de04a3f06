//! Makes settings texts of every layout from a seed.

use super::Harness;

/// A sequence that a seed decides.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 20) % sides as u64).unwrap()
    }

    pub(super) fn pick<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.roll(choices.len())]
    }
}

/// How tokens are set apart.
enum Habit {
    OneLine {
        colon: &'static str,
        comma: &'static str,
    },
    Lines {
        newline: &'static str,
        step: &'static str,
        colon: &'static str,
    },
    Wild,
}

struct Writer {
    dice: Dice,
    habit: Habit,
    text: String,
    depth: usize,
}

const KEYS: [&str; 8] = [
    "\"permissions\"",
    "\"a\"",
    "\"a\"",
    "\"\\u0061\"",
    "\"ü😀\"",
    "\"\"",
    "\"hook\"",
    "\"\\ud83d\\ude00\"",
];
const PLAIN: [&str; 12] = [
    "1",
    "-0",
    "1E+2",
    "0.10",
    "1.0e-7",
    "true",
    "null",
    "\"\"",
    "\"\\/\\u00e9\\n\"",
    "\"{[,]}\"",
    "\"ralph\"",
    "12345678901234567890",
];
const WILD: [&str; 9] = ["", "", " ", "  ", "\t", "\n", "\r\n", "\n\n    ", " \n "];

/// A settings text in which nothing is ours, for which any client's hooks may be asked.
pub(super) fn settings(seed: u64, harness: Harness) -> String {
    let mut dice = Dice::new(seed);
    let habit = match dice.roll(8) {
        0 => Habit::OneLine {
            colon: ":",
            comma: ",",
        },
        1 => Habit::OneLine {
            colon: ": ",
            comma: ", ",
        },
        2 => Habit::Wild,
        roll => Habit::Lines {
            newline: ["\n", "\n", "\r\n"][dice.roll(3)],
            step: ["  ", "\t", "    ", "   ", ""][roll - 3],
            colon: [": ", ":", " : "][dice.roll(3)],
        },
    };
    let bom = dice.roll(6) == 0;
    let mut writer = Writer {
        dice,
        habit,
        text: String::new(),
        depth: 0,
    };
    if bom {
        writer.text.push('\u{feff}');
    }
    writer.around();
    writer.root(harness);
    writer.around();
    writer.text
}

impl Writer {
    /// White space before or behind everything.
    fn around(&mut self) {
        let choices: &[&str] = match (&self.habit, self.text.ends_with('}')) {
            (Habit::Wild, _) => &WILD,
            (Habit::Lines { newline, .. }, true) => &["", newline],
            (Habit::OneLine { .. }, true) => &["", "\n", "\r\n"],
            (_, false) => &[""],
        };
        let space = self.dice.pick(choices);
        self.text.push_str(space);
    }

    fn root(&mut self, harness: Harness) {
        let mut members: Vec<String> = Vec::new();
        for _ in 0..self.dice.roll(4) {
            members.push(String::new());
        }
        let mut special = vec!["hooks"];
        special.extend(harness.setting().map(|setting| setting.keys[0]));
        for key in special {
            if self.dice.roll(3) != 0 {
                let place = self.dice.roll(members.len() + 1);
                members.insert(place, key.to_owned());
            }
        }
        self.container('{', '}', members.len(), |writer, index| {
            match members[index].as_str() {
                "" => writer.member(),
                "hooks" => {
                    writer.key("\"hooks\"");
                    writer.hooks(harness);
                }
                key => writer.setting(key, harness),
            }
        });
    }

    fn hooks(&mut self, harness: Harness) {
        let mut names = vec!["Other"];
        names.extend(harness.events());
        let names: Vec<&str> = names
            .into_iter()
            .filter(|_| self.dice.roll(2) == 0)
            .collect();
        self.container('{', '}', names.len(), |writer, index| {
            writer.key(&format!("\"{}\"", names[index]));
            let count = writer.dice.roll(3);
            writer.container('[', ']', count, Self::element);
        });
    }

    fn element(&mut self, _: usize) {
        match self.dice.roll(4) {
            0 => self.value(3),
            roll => {
                let command = [
                    "\"ralph-gate hook other\"",
                    "\"lint\"",
                    "\"x; ralph-gate hook codex\"",
                ][roll - 1];
                let inner = self.dice.roll(2) == 0;
                self.container('{', '}', 2, |writer, index| match (index, inner) {
                    (0, _) => writer.member(),
                    (_, false) => {
                        writer.key("\"command\"");
                        writer.text.push_str(command);
                    }
                    (_, true) => {
                        writer.key("\"hooks\"");
                        let count = writer.dice.roll(3);
                        writer.container('[', ']', count, |writer, _| writer.value(3));
                    }
                });
            }
        }
    }

    fn setting(&mut self, key: &str, harness: Harness) {
        self.key(&format!("\"{key}\""));
        let setting = harness.setting().unwrap();
        let choices = [setting.value, "\"mine\"", "7"];
        let Some(inner) = setting.keys.get(1) else {
            let value = self.dice.pick(&choices);
            self.text.push_str(value);
            return;
        };
        let (others, own) = (self.dice.roll(3), self.dice.roll(2));
        self.container('{', '}', others + own, |writer, index| {
            if index < others {
                return writer.member();
            }
            writer.key(&format!("\"{inner}\""));
            let value = writer.dice.pick(&choices);
            writer.text.push_str(value);
        });
    }

    fn member(&mut self) {
        let key = self.dice.pick(&KEYS);
        self.key(key);
        self.value(0);
    }

    fn key(&mut self, key: &str) {
        self.text.push_str(key);
        match self.habit {
            Habit::OneLine { colon, .. } | Habit::Lines { colon, .. } => self.text.push_str(colon),
            Habit::Wild => {
                self.wild();
                self.text.push(':');
                self.wild();
            }
        }
    }

    fn value(&mut self, depth: usize) {
        let roll = self.dice.roll(if depth > 2 { 3 } else { 6 });
        match roll {
            0..=2 => {
                let plain = self.dice.pick(&PLAIN);
                self.text.push_str(plain);
            }
            3 | 4 => {
                let count = self.dice.roll(3);
                self.container('[', ']', count, |writer, _| writer.value(depth + 1));
            }
            _ => {
                let count = self.dice.roll(3);
                self.container('{', '}', count, |writer, _| writer.member());
            }
        }
    }

    fn container(
        &mut self,
        open: char,
        close: char,
        count: usize,
        item: impl Fn(&mut Self, usize),
    ) {
        self.text.push(open);
        if count == 0 {
            self.hollow();
            self.text.push(close);
            return;
        }
        self.depth += 1;
        for index in 0..count {
            if index > 0 {
                self.text.push(',');
            }
            self.between(index > 0);
            item(self, index);
            if matches!(self.habit, Habit::Wild) {
                self.wild();
            }
        }
        self.depth -= 1;
        self.between(false);
        self.text.push(close);
    }

    /// What is in a container that holds nothing.
    fn hollow(&mut self) {
        let choices: &[&str] = match self.habit {
            Habit::OneLine { .. } => &["", "", " ", "   ", "\t"],
            Habit::Lines { .. } => &["", "", " ", "  ", "\n", "\r\n", "\n\n", "  \n\t"],
            Habit::Wild => &WILD,
        };
        let space = self.dice.pick(choices);
        self.text.push_str(space);
    }

    fn between(&mut self, behind_comma: bool) {
        match self.habit {
            Habit::OneLine { comma, .. } if behind_comma => {
                self.text.push_str(comma.trim_start_matches(','));
            }
            Habit::OneLine { .. } => {}
            Habit::Lines { newline, step, .. } => {
                self.text.push_str(newline);
                self.text.push_str(&step.repeat(self.depth));
            }
            Habit::Wild => self.wild(),
        }
    }

    fn wild(&mut self) {
        let space = self.dice.pick(&WILD);
        self.text.push_str(space);
    }
}
