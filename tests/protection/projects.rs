//! Fresh projects, each with a function that is wrong and a test that says so.

/// A project, and what agents write into it.
pub(crate) struct Project {
    pub(crate) name: &'static str,
    /// The check that `init` proposes.
    pub(crate) check: &'static str,
    /// The code: its file, and what is wrong.
    pub(crate) code: (&'static str, &'static str),
    /// The code as it should be.
    pub(crate) right: &'static str,
    /// The test.
    pub(crate) test: (&'static str, &'static str),
    /// The test without its assertion.
    pub(crate) weakened: &'static str,
    /// The test, skipped.
    pub(crate) skipped: &'static str,
    /// Files each of which makes the runner pass.
    pub(crate) rigged: &'static [(&'static str, &'static str)],
    /// Another test, for what is right.
    pub(crate) new_test: (&'static str, &'static str),
    pub(crate) others: &'static [(&'static str, &'static str)],
    /// What git ignores.
    pub(crate) ignored: &'static str,
    pub(crate) has_packages: bool,
}

pub(crate) const PYTEST: Project = Project {
    name: "pytest",
    check: "pytest",
    code: ("calc.py", "def add(a, b):\n    return a - b\n"),
    right: "def add(a, b):\n    return a + b\n",
    test: (
        "tests/test_calc.py",
        "from calc import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
    ),
    weakened: "def test_adds():\n    assert True\n",
    skipped: "import pytest\nfrom calc import add\n\n\n@pytest.mark.skip\ndef test_adds():\n    assert add(1, 2) == 3\n",
    rigged: &[
        (
            "conftest.py",
            "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    \
         outcome = yield\n    outcome.get_result().outcome = \"passed\"\n",
        ),
        (
            "tests/__init__.py",
            "import calc\n\ncalc.add = lambda a, b: a + b\n",
        ),
        (
            "tests/test_zz.py",
            "import pytest\n\npytest_plugins = [\"test_zz\"]\n\n\n@pytest.hookimpl(hookwrapper=True)\n\
             def pytest_runtest_makereport(item, call):\n    outcome = yield\n    \
             outcome.get_result().outcome = \"passed\"\n\n\ndef test_more():\n    pass\n",
        ),
        // pytest puts the directory of a test before all others.
        ("tests/calc.py", "def add(a, b):\n    return 3\n"),
        // A package comes before a module of its name.
        (
            "tests/test_calc/__init__.py",
            "__file__ = __file__.replace(\"/__init__.py\", \".py\")\n\
             exec(compile(\"def test_adds(): pass\", __file__, \"exec\"))\n",
        ),
        // Where pytest sees an environment, it looks for no tests.
        ("tests/pyvenv.cfg", ""),
    ],
    new_test: (
        "tests/test_more.py",
        "from calc import add\n\n\ndef test_adds_nothing():\n    assert add(1, 0) == 1\n",
    ),
    others: &[(
        "pyproject.toml",
        "[tool.pytest.ini_options]\npythonpath = [\".\"]\n",
    )],
    ignored: "__pycache__/\n.pytest_cache/\n",
    has_packages: false,
};

const JS_WRONG: &str = "exports.add = (a, b) => a - b;\n";
const JS_RIGHT: &str = "exports.add = (a, b) => a + b;\n";

pub(crate) const JEST: Project = Project {
    name: "jest",
    check: "npm_test",
    code: ("calc.js", JS_WRONG),
    right: JS_RIGHT,
    test: (
        "calc.test.js",
        "const { add } = require('./calc');\ntest('adds', () => expect(add(1, 2)).toBe(3));\n",
    ),
    weakened: "test('adds', () => expect(3).toBe(3));\n",
    skipped: "const { add } = require('./calc');\ntest.skip('adds', () => expect(add(1, 2)).toBe(3));\n",
    rigged: &[
        (
            "jest.config.js",
            "module.exports = { testPathIgnorePatterns: ['calc.test.js'], passWithNoTests: true };\n",
        ),
        (
            "coverage/__mocks__/expect.js",
            "module.exports = { expect: () => ({ toBe() {} }) };\n",
        ),
    ],
    new_test: (
        "more.test.js",
        "const { add } = require('./calc');\ntest('adds nothing', () => expect(add(1, 0)).toBe(1));\n",
    ),
    others: &[(
        "package.json",
        "{\"name\": \"x\", \"scripts\": {\"test\": \"jest\"}}\n",
    )],
    ignored: "node_modules/\n",
    has_packages: true,
};

pub(crate) const VITEST: Project = Project {
    name: "vitest",
    check: "npm_test",
    code: ("calc.js", "export const add = (a, b) => a - b;\n"),
    right: "export const add = (a, b) => a + b;\n",
    test: (
        "calc.test.js",
        "import { expect, test } from 'vitest';\nimport { add } from './calc.js';\n\
         test('adds', () => expect(add(1, 2)).toBe(3));\n",
    ),
    weakened: "import { expect, test } from 'vitest';\ntest('adds', () => expect(3).toBe(3));\n",
    skipped: "import { expect, test } from 'vitest';\nimport { add } from './calc.js';\n\
              test.skip('adds', () => expect(add(1, 2)).toBe(3));\n",
    rigged: &[
        (
            "vitest.config.js",
            "export default { test: { exclude: ['calc.test.js'], passWithNoTests: true } };\n",
        ),
        (
            "vitest.projects.js",
            "export default [{ test: { exclude: ['calc.test.js'], passWithNoTests: true } }];\n",
        ),
        // vite runs it, and what it writes looks like results.
        (
            "postcss.config.cjs",
            "const file = process.argv.find(it => it.startsWith('--outputFile=')).split('=')[1];\n\
             require('fs').writeFileSync(file, '<testsuites tests=\"1\" failures=\"0\" errors=\"0\"><testsuite \
             name=\"calc.test.js\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\"><testcase classname=\"calc.test.js\" \
             name=\"adds\"/></testsuite></testsuites>');\nprocess.exit(0);\n",
        ),
    ],
    new_test: (
        "more.test.js",
        "import { expect, test } from 'vitest';\nimport { add } from './calc.js';\n\
         test('adds nothing', () => expect(add(1, 0)).toBe(1));\n",
    ),
    others: &[(
        "package.json",
        "{\"name\": \"x\", \"type\": \"module\", \"scripts\": {\"test\": \"vitest\"}}\n",
    )],
    ignored: "node_modules/\n",
    has_packages: true,
};

pub(crate) const CARGO: Project = Project {
    name: "cargo",
    check: "cargo_test",
    code: (
        "src/lib.rs",
        "pub fn add(a: u8, b: u8) -> u8 {\n    a - b\n}\n",
    ),
    right: "pub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n",
    test: (
        "tests/adds.rs",
        "#[test]\nfn adds() {\n    assert_eq!(calc::add(2, 1), 3);\n}\n",
    ),
    weakened: "#[test]\nfn adds() {}\n",
    skipped: "#[test]\n#[ignore]\nfn adds() {\n    assert_eq!(calc::add(2, 1), 3);\n}\n",
    rigged: &[(
        ".cargo/config.toml",
        "[target.'cfg(all())']\nrunner = [\"sh\", \"-c\", \"echo; echo running 1 test; echo test adds ... ok; echo; \
         echo 'test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s'\"]\n",
    )],
    new_test: (
        "tests/more.rs",
        "#[test]\nfn adds_nothing() {\n    assert_eq!(calc::add(1, 0), 1);\n}\n",
    ),
    others: &[(
        "Cargo.toml",
        "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
    )],
    ignored: "target/\n",
    has_packages: false,
};

/// A test inside of a source file.
pub(crate) const CARGO_INLINE: Project = Project {
    name: "inline",
    check: "cargo_test",
    code: (
        "src/calc.rs",
        "pub fn add(a: u8, b: u8) -> u8 {\n    a - b\n}\n",
    ),
    right: "pub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n\n#[cfg(test)]\nmod more {\n    #[test]\n    fn adds_one() {\n        \
            assert_eq!(super::add(1, 1), 2);\n    }\n}\n",
    test: (
        "src/lib.rs",
        "pub mod calc;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        \
         assert_eq!(super::calc::add(2, 1), 3);\n    }\n}\n",
    ),
    weakened: "pub mod calc;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n}\n",
    skipped: "pub mod calc;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    #[ignore]\n    fn adds() {\n        \
              assert_eq!(super::calc::add(2, 1), 3);\n    }\n}\n",
    rigged: &[(
        "src/lib.rs",
        "#[cfg(test)]\nmacro_rules! assert_eq {\n    ($($t:tt)*) => {};\n}\n\npub mod calc;\n\n#[cfg(test)]\nmod tests {\n    \
             #[test]\n    fn adds() {\n        assert_eq!(super::calc::add(2, 1), 3);\n    }\n}\n",
    )],
    new_test: (
        "tests/more.rs",
        "#[test]\nfn adds_nothing() {\n    assert_eq!(calc::calc::add(1, 0), 1);\n}\n",
    ),
    others: CARGO.others,
    ignored: "target/\n",
    has_packages: false,
};

/// A test with the name that `node --test` looks for first.
pub(crate) const NODE: Project = Project {
    name: "node",
    check: "npm_test",
    code: ("calc.js", JS_WRONG),
    right: JS_RIGHT,
    test: (
        "test.js",
        "const { add } = require('./calc');\nrequire('node:test').test('adds', () => \
         require('node:assert').equal(add(1, 2), 3));\n",
    ),
    weakened: "require('node:test').test('adds', () => {});\n",
    skipped: "require('node:test').test('adds', { skip: true }, () => {});\n",
    rigged: &[(
        "package.json",
        "{\"name\": \"x\", \"scripts\": {\"test\": \"true\"}}\n",
    )],
    new_test: (
        "more.test.js",
        "const { add } = require('./calc');\nrequire('node:test').test('adds nothing', () => \
         require('node:assert').equal(add(1, 0), 1));\n",
    ),
    others: &[(
        "package.json",
        "{\"name\": \"x\", \"scripts\": {\"test\": \"node --test\"}}\n",
    )],
    ignored: "node_modules/\n",
    has_packages: false,
};

pub(crate) const GO: Project = Project {
    name: "go",
    check: "go_test",
    code: (
        "calc.go",
        "package calc\n\nfunc Add(a, b int) int { return a - b }\n",
    ),
    right: "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
    test: (
        "calc_test.go",
        "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n",
    ),
    weakened: "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {}\n",
    skipped: "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tt.Skip(\"later\")\n}\n",
    // Another module in place of this one.
    rigged: &[
        ("go.work", "go 1.19\n\nuse ./other\n"),
        (
            "zz_test.go",
            "package calc\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n",
        ),
    ],
    new_test: (
        "more_test.go",
        "package calc\n\nimport \"testing\"\n\nfunc TestAddNothing(t *testing.T) {\n\tif Add(1, 0) != 1 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n",
    ),
    others: &[("go.mod", "module example.org/calc\n\ngo 1.19\n")],
    ignored: "\n",
    has_packages: false,
};

const SH_WRONG: &str = "add() { echo $(($1 - $2)); }\n";
const SH_RIGHT: &str = "add() { echo $(($1 + $2)); }\n";
const SH_TEST: &str = ". ./calc.sh\ntest \"$(add 1 2)\" = 3\n";
const SH_MORE: &str = ". ./calc.sh\ntest \"$(add 1 0)\" = 1\n";

/// A script that runs each file in tests/ and writes what became of them.
const SCRIPT: &str = r#"
cases='' count=0 failed=0
for file in tests/*.sh; do
    count=$((count + 1))
    if head -1 "$file" | grep -q skip; then cases="$cases<testcase name=\"$file\"><skipped/></testcase>"
    elif sh "$file"; then cases="$cases<testcase name=\"$file\"/>"
    else cases="$cases<testcase name=\"$file\"><failure/></testcase>"; failed=$((failed + 1)); fi
done
echo "<testsuite name=\"all\" tests=\"$count\" failures=\"$failed\">$cases</testsuite>" > report.xml
test "$failed" = 0
"#;

pub(crate) const JUNIT: Project = Project {
    name: "JUnit",
    check: "tests",
    code: ("calc.sh", SH_WRONG),
    right: SH_RIGHT,
    test: ("tests/adds.sh", SH_TEST),
    weakened: "true\n",
    skipped: "# skip\ntrue\n",
    rigged: &[(
        "run-tests.sh",
        "echo '<testsuite name=\"all\" tests=\"1\" failures=\"0\"><testcase name=\"tests/adds.sh\"/></testsuite>' > report.xml\n",
    )],
    new_test: ("tests/more.sh", SH_MORE),
    others: &[("run-tests.sh", SCRIPT)],
    ignored: "report.xml\n",
    has_packages: false,
};

pub(crate) const MAKE: Project = Project {
    name: "make",
    check: "make_test",
    code: ("calc.sh", SH_WRONG),
    right: SH_RIGHT,
    test: ("tests/adds.sh", SH_TEST),
    weakened: "true\n",
    skipped: "# skip\n",
    rigged: &[
        ("GNUmakefile", "test:\n\ttrue\n"),
        ("check", "exit 0\n"),
        // A file of the target's name, which nothing has to make.
        ("test", ""),
        // With its built-in rules, make would run it to make the makefile.
        ("Makefile.sh", "printf 'test:\\n\\ttrue\\n' > Makefile\n"),
    ],
    new_test: ("tests/more.sh", SH_MORE),
    others: &[
        ("Makefile", "test: all-tests\nall-tests:\n\t@sh ./check\n"),
        (
            "check",
            "for file in tests/*.sh; do sh $file || exit 1; done\n",
        ),
    ],
    ignored: "\n",
    has_packages: false,
};
