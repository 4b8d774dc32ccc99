//! What stands before a block: names people take for granted, and what the
//! changed places call.

use std::collections::BTreeSet;

use ruff_python_ast::Arguments;

use super::Analysis;

/// Names that need no import, and how they are imported.
const PROVIDED: [(&str, &str); 21] = [
    ("Counter", "from collections import Counter"),
    ("OrderedDict", "OrderedDict = dict"),
    ("Path", "from pathlib import Path"),
    ("base64", "import base64"),
    ("collections", "import collections"),
    ("date", "from datetime import date"),
    ("datetime", "from datetime import datetime"),
    ("defaultdict", "from collections import defaultdict"),
    ("deque", "from collections import deque"),
    ("functools", "import functools"),
    ("itertools", "import itertools"),
    ("json", "import json"),
    ("math", "import math"),
    ("namedtuple", "from collections import namedtuple"),
    ("os", "import os"),
    ("partial", "from functools import partial"),
    ("re", "import re"),
    ("reduce", "from functools import reduce"),
    ("timedelta", "from datetime import timedelta"),
    ("timezone", "from datetime import timezone"),
    ("typing", "import typing"),
];

/// Whether a name needs no import.
pub(in super::super) fn provides(name: &str) -> bool {
    PROVIDED.iter().any(|(provided, _)| *provided == name)
}

/// The names that need no import, and whether each is a module.
pub(in super::super) fn provided() -> impl Iterator<Item = (&'static str, bool)> {
    PROVIDED.iter().map(|(name, import)| (*name, import.starts_with("import ")))
}

/// The lines before a block.
pub(super) fn prelude(
    analyze: &Analysis,
    helpers: &BTreeSet<Helper>,
    lenient: bool,
    known: &dyn Fn(&str) -> bool,
) -> String {
    let mut lines = String::new();
    let mut names: Vec<&str> =
        analyze.free().map(|name| name.split('.').next().unwrap_or(name)).collect();
    if helpers.iter().any(|helper| helper.needs_path()) {
        lines.push_str("from pathlib import Path as __aye_Path\n");
    }
    names.dedup();
    for name in names {
        let provided = PROVIDED.iter().find(|(provided, _)| *provided == name);
        if let Some((_, import)) = provided.filter(|(name, _)| !known(name)) {
            lines.push_str(import);
            lines.push('\n');
        }
    }
    for helper in helpers {
        lines.push_str(helper.code(lenient));
    }
    lines
}

/// What a changed place calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    /// `x.name`, also of a mapping.
    Attribute,
    /// `dir()`
    Dir,
    /// `globals()`
    Known,
    /// `env["NAME"]`
    Env,
    /// `env.get("NAME")`
    GetEnv,
    /// `os.getcwd()`
    Directory,
    /// `Path.cwd()`
    DirectoryPath,
    /// `Path.home()`
    HomePath,
    /// `os.path.expanduser(…)`
    ExpandUser,
    /// `path.expanduser()`
    ExpandUserPath,
    /// `os.path.join(…)`
    Join,
    /// `os.path.exists(…)`
    Exists,
    /// `os.path.isfile(…)`
    IsFile,
    /// `os.path.isdir(…)`
    IsDir,
    /// `os.path.basename(…)`
    BaseName,
    /// `os.path.dirname(…)`
    DirName,
    /// `os.path.splitext(…)`
    SplitExt,
    /// `path.relative_to(…)`
    RelativeTo,
    /// `hasattr(x, "name")`, also of a mapping.
    HasAttr,
    /// `getattr(x, "name")`, also of a mapping.
    GetAttr,
    /// `a == b` in an expression: not of text and a number.
    Compare,
    /// `a | b`, also of mappings.
    Merge,
    /// `"%s" % x`
    Percent,
    /// `a ** b` and `pow(a, b)`: the interpreter does not look up during it.
    Power,
    /// `a << b`: numbers that take too long to multiply come from here, too.
    Shift,
    /// `re.sub(…)` with a function.
    Sub,
    /// `json.dumps(…, default=…)`
    Dumps,
    /// `datetime.utcnow()`
    UtcNow,
}

impl Helper {
    /// The helper in the place of a function.
    pub(super) fn for_call(name: &str) -> Option<Self> {
        Some(match name {
            "env.get" | "os.environ.get" => Self::GetEnv,
            "os.getcwd" => Self::Directory,
            "Path.cwd" | "pathlib.Path.cwd" => Self::DirectoryPath,
            "Path.home" | "pathlib.Path.home" => Self::HomePath,
            "os.path.expanduser" => Self::ExpandUser,
            "os.path.join" => Self::Join,
            "os.path.exists" => Self::Exists,
            "os.path.isfile" => Self::IsFile,
            "os.path.isdir" => Self::IsDir,
            "os.path.basename" => Self::BaseName,
            "os.path.dirname" => Self::DirName,
            "os.path.splitext" => Self::SplitExt,
            "re.sub" => Self::Sub,
            "json.dumps" => Self::Dumps,
            "datetime.utcnow" | "datetime.datetime.utcnow" => Self::UtcNow,
            _ => return None,
        })
    }

    /// Whether a call with these arguments needs it.
    pub(super) fn applies(self, arguments: &Arguments) -> bool {
        match self {
            Self::Dumps => arguments.find_keyword("default").is_some(),
            Self::Sub => arguments
                .find_argument_value("repl", 1)
                .is_none_or(|repl| !(repl.is_string_literal_expr() || repl.is_f_string_expr())),
            _ => true,
        }
    }

    /// The helper in the place of a method of any value.
    pub(super) fn for_method(name: &str) -> Option<Self> {
        match name {
            "expanduser" => Some(Self::ExpandUserPath),
            "relative_to" => Some(Self::RelativeTo),
            _ => None,
        }
    }

    /// What it is called in the program.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Attribute => "__aye_attr",
            Self::Dir => "__aye_dir",
            Self::Known => "__aye_known",
            Self::Env => "__aye_env",
            Self::GetEnv => "__aye_getenv",
            Self::Directory => "__aye_cwd",
            Self::DirectoryPath => "__aye_cwd_path",
            Self::HomePath => "__aye_home_path",
            Self::ExpandUser => "__aye_expand",
            Self::ExpandUserPath => "__aye_expand_path",
            Self::Join => "__aye_join",
            Self::Exists => "__aye_exists",
            Self::IsFile => "__aye_is_file",
            Self::IsDir => "__aye_is_dir",
            Self::BaseName => "__aye_base",
            Self::DirName => "__aye_dirname",
            Self::SplitExt => "__aye_splitext",
            Self::RelativeTo => "__aye_relative",
            Self::HasAttr => "__aye_hasattr",
            Self::GetAttr => "__aye_getattr",
            Self::Compare => "__aye_compare",
            Self::Merge => "__aye_merge",
            Self::Percent => "__aye_percent",
            Self::Power => "__aye_power",
            Self::Shift => "__aye_shift",
            Self::Sub => "__aye_sub",
            Self::Dumps => "__aye_dumps",
            Self::UtcNow => "__aye_utcnow",
        }
    }

    fn needs_path(self) -> bool {
        matches!(
            self,
            Self::DirectoryPath
                | Self::HomePath
                | Self::ExpandUserPath
                | Self::Exists
                | Self::IsFile
                | Self::IsDir
                | Self::RelativeTo
        )
    }

    /// Its code; those without any are answered by Aye.
    fn code(self, lenient: bool) -> &'static str {
        match self {
            Self::Attribute if lenient => {
                "def __aye_attr(o, k):
    if o is None:
        return None
    if isinstance(o, dict):
        return o.get(k)
    return getattr(o, k)
"
            }
            Self::Attribute => {
                "def __aye_attr(o, k):
    if isinstance(o, dict):
        if k in o:
            return o[k]
        raise AttributeError(f\"the mapping has no key '{k}'; it has: {', '.join(str(i) for i in o)}\")
    return getattr(o, k)
"
            }
            Self::Dir | Self::Known | Self::Env | Self::GetEnv | Self::Directory => "",
            Self::DirectoryPath => "def __aye_cwd_path():\n    return __aye_Path(__aye_cwd())\n",
            Self::HomePath => "def __aye_home_path():\n    return __aye_Path(__aye_env('HOME'))\n",
            Self::ExpandUser => {
                "def __aye_expand(p):
    p = str(p)
    return __aye_env('HOME') + p[1:] if p == '~' or p.startswith('~/') else p
"
            }
            Self::ExpandUserPath => {
                "def __aye_expand_path(o):
    p = str(o)
    return __aye_Path(__aye_env('HOME') + p[1:] if p == '~' or p.startswith('~/') else p)
"
            }
            Self::Join => {
                "def __aye_join(first, *rest):
    path = str(first)
    for part in rest:
        part = str(part)
        if part.startswith('/'):
            path = part
        elif not path or path.endswith('/'):
            path += part
        else:
            path += '/' + part
    return path
"
            }
            Self::Exists => "def __aye_exists(p):\n    return __aye_Path(p).exists()\n",
            Self::IsFile => "def __aye_is_file(p):\n    return __aye_Path(p).is_file()\n",
            Self::IsDir => "def __aye_is_dir(p):\n    return __aye_Path(p).is_dir()\n",
            Self::BaseName => "def __aye_base(p):\n    return str(p).split('/')[-1]\n",
            Self::DirName => {
                "def __aye_dirname(p):
    head = '/'.join(str(p).split('/')[:-1])
    return '/' if not head and str(p).startswith('/') else head
"
            }
            Self::SplitExt => {
                "def __aye_splitext(p):
    p = str(p)
    name = p.split('/')[-1]
    at = name.rfind('.')
    if at < 1 or not name[:at].strip('.'):
        return (p, '')
    cut = len(p) - len(name) + at
    return (p[:cut], p[cut:])
"
            }
            Self::RelativeTo => {
                "def __aye_relative(o, base):
    p, b = str(o), str(base).rstrip('/')
    if p == b:
        return __aye_Path('.')
    if not p.startswith(b + '/'):
        raise ValueError(f\"'{p}' is not in the subpath of '{b}'\")
    return __aye_Path(p[len(b) + 1:])
"
            }
            Self::HasAttr => include_str!("helpers/hasattr.py"),
            Self::GetAttr => include_str!("helpers/getattr.py"),
            Self::Compare => include_str!("helpers/compare.py"),
            Self::Merge => include_str!("helpers/merge.py"),
            Self::Percent => include_str!("helpers/percent.py"),
            Self::Power => include_str!("helpers/power.py"),
            Self::Shift => include_str!("helpers/shift.py"),
            Self::Sub => include_str!("helpers/sub.py"),
            Self::Dumps => include_str!("helpers/dumps.py"),
            Self::UtcNow => {
                "from datetime import datetime as __aye_datetime\ndef __aye_utcnow():\n    return __aye_datetime.now()\n"
            }
        }
    }
}
