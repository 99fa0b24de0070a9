//! Texts made by the grammar: commands `c1` to `c9` that run, in every construct that can hold one.

use super::random::Random;

pub(crate) struct Generator<'a> {
    random: &'a mut Random,
    /// How much deeper it may get.
    fuel: usize,
    /// Here-documents whose lines follow the next newline.
    pending: Vec<String>,
}

/// Words that need nothing generated inside.
const WORDS: &[&str] = &[
    "x1",
    "a#b",
    "'x 2'",
    "\"x 3\"",
    "\\x4",
    "$'x\\n5'",
    "$'\\'q'",
    "$\"x6\"",
    "-n",
    "--x=y",
    "{x1,x2}",
    "{1..3}",
    "{a,b{c,d}}",
    "$a",
    "${a}",
    "\"$a\"",
    "${#a}",
    "${a:-x1}",
    "\"${a:-'x1'}\"",
    "${a%x*}",
    "${a/x/y}",
    "\"${a[@]}\"",
    "$((1+2))",
    "$[1+2]",
    "$((a<2))",
    "x*",
    "?",
    "[ab]",
    "~",
    "a=b",
    "if",
    "then",
    "done",
    "}",
    "!",
    "日本",
    "x\\\n1",
    "''",
    "\"\"",
    "$",
    "$$",
    "$?",
    "\\\\",
    "\"a\\\"b\"",
    "'a\"b'",
    "\"a'b\"",
    "x{}",
    "{}",
    "{a}",
    "a{b",
    "${a:1:2}",
    "${!a*}",
    "${a^^}",
    "\"a\\\nb\"",
    "{x,\"y z\"}",
    "=",
    "==",
    "a[1]",
    "2",
    "1x",
    "-",
    "--",
    "#c",
    "\\#c",
    "x~",
    "%",
    "^a",
    "a:b",
    "@x",
];

/// Separators between commands.
const BETWEEN: &[&str] =
    &["; ", "\n", " && ", " || ", " & ", " | ", " |& ", ";\n", " &&\n", "\n\n", " |\n", " # c x1\n", ";"];

impl<'a> Generator<'a> {
    pub(crate) fn text(random: &'a mut Random) -> String {
        let fuel = 2 + random.below(5);
        let mut generator = Self { random, fuel, pending: Vec::new() };
        let mut text = generator.list();
        generator.end_line(&mut text);
        text
    }

    fn deeper(&mut self, make: impl FnOnce(&mut Self) -> String) -> String {
        if self.fuel == 0 {
            return self.name();
        }
        self.fuel -= 1;
        let text = make(self);
        self.fuel += 1;
        text
    }

    fn name(&mut self) -> String {
        format!("c{}", 1 + self.random.below(9))
    }

    /// Ends a line if documents are due, with their bodies.
    fn end_line(&mut self, text: &mut String) {
        if !self.pending.is_empty() {
            text.push('\n');
            for body in std::mem::take(&mut self.pending) {
                text.push_str(&body);
            }
        }
    }

    fn list(&mut self) -> String {
        let mut text = self.command();
        for _ in 0..self.random.below(3) {
            let mut between = self.random.pick(BETWEEN).to_owned();
            if let Some(at) = between.find('\n') {
                let bodies: String = std::mem::take(&mut self.pending).concat();
                between.insert_str(at + 1, &bodies);
            }
            text.push_str(&between);
            text.push_str(&self.command());
        }
        text
    }

    /// A list that ends where a reserved word can follow.
    fn body(&mut self) -> String {
        let outer = std::mem::take(&mut self.pending);
        let mut text = self.deeper(Self::list);
        if self.pending.is_empty() && self.random.chance(60) {
            text.push_str("; ");
        } else {
            text.push('\n');
            text.push_str(&std::mem::take(&mut self.pending).concat());
        }
        self.pending = outer;
        text
    }

    fn command(&mut self) -> String {
        if self.fuel == 0 || self.random.chance(55) {
            return self.simple();
        }
        let mut text = match self.random.below(17) {
            0 => format!("( {})", self.body()),
            1 => format!("{{ {}}}", self.body()),
            2 => format!("if {}then {}fi", self.body(), self.body()),
            3 => format!(
                "if {}then {}elif {}then {}else {}fi",
                self.body(),
                self.body(),
                self.body(),
                self.body(),
                self.body()
            ),
            4 => format!("for i in {} {}; do {}done", self.word(), self.word(), self.body()),
            5 => format!("for i in x1\n{{ {}}}", self.body()),
            6 => format!("for ((i=0;i<2;i++)); do {}done", self.body()),
            7 => format!(
                "case {} in {}) {};; (x|*) {}\nesac",
                self.word(),
                self.pattern(),
                self.body(),
                self.body()
            ),
            8 => format!("case x in x) {};& y) {};;& *) {}esac", self.body(), self.body(), self.body()),
            9 => format!("while {}do {}break; done", self.body(), self.body()),
            10 => format!("until {}do {}break\ndone", self.body(), self.body()),
            11 => format!("f() {{ {}}}; f", self.body()),
            12 => format!("function g {{ {}}}\ng", self.body()),
            13 => format!("! {}", self.simple()),
            14 => format!("[[ {} ]]", self.test()),
            15 => format!("((a = 1 + {}))", self.number()),
            _ => format!("time {}", self.simple()),
        };
        if self.random.chance(15) {
            text.push(' ');
            text.push_str(&self.redirect());
        }
        text
    }

    fn simple(&mut self) -> String {
        let mut parts = Vec::new();
        for _ in 0..self.random.below(2) * self.random.below(2) {
            parts.push(self.assignment());
        }
        if self.random.chance(8) {
            parts.push(self.redirect());
        }
        parts.push(self.program());
        for _ in 0..self.random.below(4) {
            parts.push(if self.random.chance(10) { self.redirect() } else { self.word() });
        }
        let blank = self.random.pick(&[" ", " ", " ", "  ", "\t", " \\\n"]);
        parts.join(blank)
    }

    fn program(&mut self) -> String {
        let name = self.name();
        let (head, tail) = name.split_at(1);
        match self.random.below(20) {
            0 => format!("{head}\\{tail}"),
            1 => format!("'{head}'{tail}"),
            2 => format!("\"{name}\""),
            3 => format!("{head}\\\n{tail}"),
            4 => format!("$'\\x63'{tail}"),
            5 => format!("{head}\"\"{tail}"),
            // Patterns: a file of that name is there.
            6 => self.random.pick(&["c[1]", "c[!2-9]", "[c]1", "c?", "c['1']", "c[$b]"]).to_owned(),
            _ => name,
        }
    }

    fn assignment(&mut self) -> String {
        match self.random.below(6) {
            0 => format!("v[{}]={}", self.number(), self.word()),
            1 => format!("v+={}", self.word()),
            2 => format!("w=({} {})", self.word(), self.word()),
            3 => format!("w=([1]={}\n{} # c\n)", self.word(), self.word()),
            _ => format!("v={}", self.word()),
        }
    }

    fn substitution(&mut self) -> String {
        let outer = std::mem::take(&mut self.pending);
        let text = self.deeper(|generator| {
            let mut list = generator.list();
            generator.end_line(&mut list);
            match generator.random.below(8) {
                0 if !list.contains(['`', '\\', '$', '"']) => format!("`{list}`"),
                1 => format!("$( {list} )"),
                2 => format!("$(\n{list}\n)"),
                3 => format!("$( # x1 )\n{list})"),
                4 => format!("<( {list})"),
                5 => format!("$( ({list}) )"),
                _ => format!("$( {list})"),
            }
        });
        self.pending = outer;
        text
    }

    fn word(&mut self) -> String {
        if self.fuel == 0 || self.random.chance(65) {
            return self.random.pick(WORDS).to_owned();
        }
        let inner = self.substitution();
        let quoted = if inner.starts_with('<') { self.name() } else { inner.clone() };
        match self.random.below(14) {
            0 => format!("\"{quoted}\""),
            1 => format!("\"x {quoted} y\""),
            2 => format!("${{a:-{inner}}}"),
            3 => format!("\"${{a:-{quoted}}}\""),
            4 => format!("${{a/x/{inner}}}"),
            5 => format!("${{b:=x{quoted}}}"),
            6 => format!("$((1 + {quoted}0))"),
            7 => format!("{{x1,{inner}}}"),
            8 => format!("x{quoted}y"),
            9 => format!("\"${{a:-\"{quoted}\"}}\""),
            10 => format!("${{a[{quoted}0]}}"),
            11 => format!("${{a#{quoted}}}"),
            _ => inner,
        }
    }

    fn number(&mut self) -> String {
        match self.random.below(4) {
            0 if self.fuel > 0 => {
                let inner = self.substitution();
                if inner.starts_with('<') { "1".into() } else { format!("{inner}0") }
            }
            1 => "b[1]".into(),
            2 => "(2*3)".into(),
            _ => "1".into(),
        }
    }

    fn pattern(&mut self) -> String {
        match self.random.below(5) {
            0 => "x*|[ab]".into(),
            1 => "'x 1'|\"$a\"".into(),
            2 => self.word().replace('#', ""),
            _ => "x1".into(),
        }
    }

    fn test(&mut self) -> String {
        match self.random.below(8) {
            0 => format!("-n {}", self.word()),
            1 => format!("x == {} && -z $a", self.word()),
            2 => "$a =~ ^(x|y)*$ || x < y".into(),
            3 => format!("! ( {} -eq 1 )", self.number()),
            4 => format!("x = @(x|{})", self.name()),
            5 => format!("-v a ||\n -n {}", self.word()),
            _ => "x".into(),
        }
    }

    fn redirect(&mut self) -> String {
        match self.random.below(12) {
            0 => format!("> {}", self.random.pick(&["f1", "'f 2'", "f\\3", "f\"4\""])),
            1 => "2>&1".into(),
            2 => ">>f1".into(),
            3 => "&> f2".into(),
            4 => format!("<<< {}", self.word()),
            5 => "< f1".into(),
            6 => "{fd}>f3".into(),
            7 => ">&2".into(),
            8 => ">|f4".into(),
            _ => self.here_document(),
        }
    }

    fn here_document(&mut self) -> String {
        let inner = if self.fuel > 0 { self.substitution() } else { "$a".into() };
        let inner = if inner.starts_with('<') { "x1".into() } else { inner };
        let (operator, body) = match self.random.below(6) {
            0 => ("<<'E'", format!("{inner}\nE\n")),
            1 => ("<<\\E", "$(x1) `x2\nE\n".to_owned()),
            2 => ("<<-E", format!("\tx {inner}\n\tE\n")),
            3 => ("<<\"E F\"", "$(x1)\nE F\n".to_owned()),
            4 => ("<<E", format!("\\$(x1) ${{a:-{inner}}} \"\nE\n")),
            _ => ("<< E", format!("x {inner} '\nE\n")),
        };
        self.pending.push(body);
        operator.to_owned()
    }
}
