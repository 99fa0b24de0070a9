//! What is read and what isn't.

use super::super::Does;
use super::read;

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn plain_programs_do_nothing_else() {
    for program in [
        "{print ($1+$2)/2, (a)/b/c}",
        "/^[a-z]+[0-9]/ && $2 > 5 {print}",
        "NR>1 && $2 > 1 {s+=$2} END {print s}",
        "{print $2}",
        "/api/ {print $2}",
        "/a|b/ || $1 ~ /x>y/ {n++} END {printf \"%d | %s > x\\n\", n, (n > 1)}",
        "{ print $1 / $2 / 3 } # system(\"id\")",
        "$1 == \"system(\" { print \"a|b\" }",
        "{ if (a < b) print a; x = y ? 1 : 2 }",
        "BEGIN { while ((getline line) > 0) n++ }",
        "/=/ { split($0, kv, /=/); print kv[1] }",
        "/a/,/b/{print}/c/{next}",
        "{ a[$1] += $2 } END { for (k in a) printf \"%s %d\\n\", k, a[k] }",
        "function f(x,  i) { return x*2 } {print f($1)}",
        "{ do { x++ } while (x < 5) } END { if (x) print 1; else if (y) print 2; else print 3 }",
        "BEGIN { for (;;) { break } for (i = 1; i <= 3; i++) s = s i; print length, length($0), -s }",
        "!seen[$0]++",
        "NF",
        "END { print NR }",
        "{ $1 = \"\"; print substr($0, 2) }",
        "{ gsub(/[^[:alpha:]_]/, \"\"); print toupper($0) }",
        "{\n  n = split($0, parts, \"/\")\n  print parts[n],\n    $NF\n}\n",
        "BEGIN { if ((1, 2) in a) print; if (!(x in a)) delete a[x] }",
        "{ print $NF-1, $(NF-1), $i++ }",
        "NR==FNR {a[$1]; next} ($1 in a)",
        "{ print strftime(\"%F\", systime()) }",
    ] {
        assert_eq!(read(program), Some(Vec::new()), "{program}");
    }
}

#[test]
fn what_runs_writes_and_reads_is_found() {
    for (program, does) in [
        ("BEGIN{system(\"rm x\")}", Does::Run(text("rm x"))),
        ("BEGIN{system(\"rm \" x)}", Does::Run(None)),
        ("BEGIN{system (c)}", Does::Run(None)),
        ("BEGIN{\"id\"|getline l; print l}", Does::Run(text("id"))),
        ("BEGIN{\"i\" \"d\"|getline}", Does::Run(None)),
        ("{print | \"sort\"}", Does::Run(text("sort"))),
        ("{print |& \"sort\"}", Does::Run(text("sort"))),
        ("{print >> \"a.txt\"}", Does::Write(text("a.txt"))),
        ("{print $1, (2 > 1) > $2\".txt\"}", Does::Write(None)),
        ("{print 1 > 2 ? 3 : 4}", Does::Write(None)),
        ("BEGIN{while((getline l<\"../s\")>0)print l}", Does::Read(text("../s"))),
        ("BEGIN{print \"x\",\n\"y\" > \"out\"}", Does::Write(text("out"))),
        ("BEGIN{print (1)(2)>\"out\"}", Does::Write(text("out"))),
        ("BEGIN{ARGV[1]=\"../s\"}", Does::Read(None)),
    ] {
        assert_eq!(read(program), Some(vec![does]), "{program}");
    }
}

#[test]
fn what_versions_may_read_differently_is_not_read() {
    for program in [
        "{print \"a}",
        "/[/]/ {print}",
        "/[]a]/",
        "/[[]/",
        "BEGIN{if(1)/\"/;system(\"rm x\")#\"\n}",
        "/[[:alpha:]/]\"/{};END{system(\"rm x\")}#\"",
        "/[]/]\"/{};END{system(\"rm x\")}#\"",
        "BEGIN{x=getline / 1; system(\"rm\") / 1}",
        "BEGIN{x=case /1;system(\"touch P\")} #/",
        "BEGIN{x=length /1;system(\"touch P\")} #/",
        "BEGIN{x++ /1;system(\"touch P\")} #/",
        "BEGIN{x=\"a\" /1;system(\"touch P\")} #/",
        "BEGIN{x=1system(c)}",
        "BEGIN{x=0x1system(c)}",
        "BEGIN{f=\"system\"; @f(\"id\")}",
        "@load \"x\"",
        "BEGIN{a::b=1}",
        "func f(x){}",
        "BEGIN{f(1)}",
        "BEGIN{x=2**3}",
        "{print > \"/inet/tcp/0/h/1\"}",
        "BEGIN{SYMTAB[\"ARGV\"]}",
        "# c\\\nBEGIN{}",
        "BEGIN{x=1}\r\n",
        "BEGIN{print \"\u{e9}\\\"\"}",
        "BEGIN{",
        "BEGIN}",
        "BEGIN{print /a/ /b/}",
    ] {
        assert_eq!(read(program), None, "{program}");
    }
}

#[test]
fn deep_and_long_programs_end() {
    assert_eq!(read(&"(".repeat(100_000)), None);
    assert_eq!(read(&"{".repeat(100_000)), None);
    assert_eq!(read(&format!("{{x={}1}}", "1+".repeat(50_000))), Some(Vec::new()));
}
