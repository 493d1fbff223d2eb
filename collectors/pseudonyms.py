"""Replaces names in recordings by others of the same shape, so that layouts and numbers stay as they are.

Names are the values of the columns that identify systems, users, jobs, hosts and the like in the records of a format,
and whatever looks like an address, a path or a serial number. A replacement depends on a key that nobody keeps; within
one `Pseudonyms` a name always has the same replacement.
"""

from __future__ import annotations

import csv
import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from ipaddress import IPv6Address
from string import ascii_lowercase

from counterflow.base.errors import CounterflowError
from counterflow.collectors.formats.ibmi_tables.description import label
from counterflow.collectors.formats.ibmi_tables.headers import table_of
from counterflow.collectors.records import Fields, Record, Single
from counterflow.collectors.text.cells import separator, split

_COLUMNS = frozenset(
    """
    system subsystem member peer job job_name job_user current_user accounting_code command workload_class service_class
    report_class program_schema queue component physical_port
    """.split()  # noqa: SIM905 - a list of them is a page
)
_NAMING = re.compile(
    r"""
    (?!file_|operating_)(?:\w+_)?
        (?:host|node|system|subsystem|partition|lpar|user|job|library|schema|profile|program|server)_?(?:name)?
    |run_?(?:name)?|(?:full|short)hostname\d*|job_name_short|serial.*|\w*_serial(?:_num(?:ber)?)?|.*mail.*
    |(?:\w+_)?(?:object|table|iasp|vpn|collection|authorization|member|data_sharing_group|proc_pool)_?(?:name)?
    |(?:\w+_)?(?:line|subsystem|job)_description|copy\d[ ]key[ ]label|mtms
    |jb(?:name|user|tname|ssys|slib|cjnam|cjusr|cusr)|etllnd|ds(?:aspn|srln|wwnn)|sysparvc|pcie(?:sern|jobn)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Headings of a table, and settings of `config`, whose values are names; the last line has those of IBM."""
_SERIALS = ("QAPMCONF", "6"), ("SYSTEM_VALUE_INFO", "QSRLNBR")
"""Where a number that IBM gave to a setting, and not a heading, shows that its value is the serial number."""
_LONGEST = 64
"""A longer value is no name."""
_KEPT = frozenset(
    """
    adm bin com command cpu daemon db2 default disk false host idle ip java job linux lp memory mail name net nobody
    null nmon no none on of off org other owner port python root serial server sshd sys syslog system systemd task total
    true unknown user value version yes aix ibm ycsb
    power power8 power9 power10 power11 zos x86_64 amd64 generic unclassified
    """.split()  # noqa: SIM905 - a list of them is a page
)
_IBM = re.compile(r"Q[A-Z0-9#$@_]{2,9}|\*\w+|(?:SYS|IBM)[A-Z]{3,}", re.ASCII)
"""Names that IBM gave: users, jobs and subsystems of IBM i, special values."""
_FOLDERS = frozenset(
    """
    bin boot dev etc home lib lib64 local log opt proc run sbin sys tmp u usr var QSYS QOpenSys
    cgroup cpuinfo devices diskstats fs mapper meminfo net partitions stat
    """.split()  # noqa: SIM905 - a list of them is a page
)
_DEVICE = re.compile(
    r"(?:sd|hd|vd|xvd|dasd)[a-z]{1,2}\d*|nvme\d+n\d+(?:p\d+)?|(?:md|loop|z?ram|nbd|rbd|sr|hdisk|fslv)\d+|dm|hd\d\w*"
)
"""Devices below /dev and in names of kernel threads (`kworker/u8:3-loop1`), as drivers and AIX name them.

The name shows what kind of device one is, and of which device it is a part.
"""

_WORD = re.compile(r"[\w$#@]+")
_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_LONG_ADDRESS = re.compile(r"(?<![\w:.])(?=[0-9a-fA-F:]*::|(?:[0-9a-fA-F]{1,4}:){7})[0-9a-fA-F:]{3,39}(?![\w:]|\.\d)")
_MAC = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}(?![\w:])")
_BARE_MAC = re.compile(r">([0-9A-Fa-f]{12})</\w*MACAddress>|\"macAddress\"\s*:\s*\"([0-9A-Fa-f]{12})\"")
_UUID = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])")
_HOST = re.compile(r"://([A-Za-z][\w.-]*):\d")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DOMAIN = re.compile(
    r"(?<![\w./@-])(?:[A-Za-z][\w-]*\.){2,}(?:com|org|net|edu|gov|local|lan|corp|intra|internal|at|au|be|br|ca|ch|cn|de|dk|es|eu|fi|fr|in|it|jp|nl|no|pl|se|uk|us)\b"
)
_PATH = re.compile(r"(?<![\w/.<])(?:/[\w.+@#$-]+){2,}")
_LOCATION = re.compile(r"\bU[0-9A-Z]{4}\.[0-9A-Z]{3}\.([0-9A-Z]{7})|\b\d{4}-[0-9A-Z]{3}\*([0-9A-Z]{7})\b")
"""A location code, or type, model and serial number of a machine."""
_LOOKS = {
    "path": _PATH,
    "domain": _DOMAIN,
    "mail": _MAIL,
    "serial": _LOCATION,
    "host": _HOST,
    "adapter": _BARE_MAC,
}
_HEADING = re.compile(r'"?[A-Za-z_][\w .%/()#$@-]*"?')
_ELEMENT = re.compile(r"</?([A-Za-z][\w.-]*)")
_ARGUMENTS = re.compile(r"^(UARG,T\d+,(?:[^,\n]*,){2})(.+)$|^(AAA,command,)(.+)$", re.MULTILINE)
"""Command lines in nmon: every word in them that does not begin with a digit is replaced."""
_BEYOND_ASCII = "àáâãäåæçèéêëìíîïñòóôõöøùúûüý"
"""Letters for those that are not ASCII: whatever code page a file is in, it stays readable or unreadable in UTF-8."""
_SHORT = 4
"""Shorter words are replaced only in the letter case in which they were found: others may be headings, such as `VM`."""


class Pseudonyms:
    """The replacements of names, for files that belong together."""

    def __init__(self, words: Iterable[str] = (), keep: Iterable[str] = ()) -> None:
        """Begin with the words that the user names; those in `keep` are never replaced."""
        self._key = secrets.token_bytes(32)
        self._keep = {part.casefold() for word in keep for part in _WORD.findall(word)} | _KEPT
        self._headings: set[str] = set()
        self._found: dict[str, None] = {}
        self._folded: dict[str, str] = {}
        """A name found, by the name without letter case."""
        self._most_parts = 1
        """Most parts between underscores of a name found."""
        self._new: dict[str, str] = {}
        """The replacement of each name; chosen once all names are found, since no name may replace another."""
        self.left: set[str] = set()
        """Names that are not replaced: numbers, single letters and common words."""
        self._taken: dict[str, str] = {}
        self.kinds: Counter[str] = Counter()
        for word in words:
            self._names(word, "word")

    def learn(self, items: Iterable[Single]) -> None:
        for column, value in _named(items):
            self._names(value, column)

    def learn_headings(self, text: str) -> None:
        """Keep the words of headings: of a first line that holds only names and separators, and of XML elements."""
        if text.lstrip("\ufeff\r\n\t ").startswith("<"):
            self._headings.update(word for element in _ELEMENT.findall(text) for word in _WORD.findall(element))
        fields = re.split(r"[;,\t]", text.lstrip("\ufeff").partition("\n")[0].strip())
        if len(fields) >= 3 and all(map(_HEADING.fullmatch, fields)):
            self._headings.update(word for field in fields for word in _WORD.findall(field))

    def learn_columns(self, text: str, file: str) -> None:
        """Learn the names in a table's columns whose headings name them: no record holds those of every row."""
        for heading, value in _columns(text, file):
            if _NAMING.fullmatch(heading) and len(value) <= _LONGEST:
                self._names(value, heading.lower())

    def learn_text(self, text: str) -> None:
        """Learn the words of whatever in a text looks like an address, a path, a domain or a serial number."""
        for kind, pattern in _LOOKS.items():
            for found in pattern.finditer(text):
                for word in _WORD.findall(found[found.lastindex or 0]):
                    short = kind in ("path", "domain", "mail") and len(word) < _SHORT
                    common = kind == "path" and word in _FOLDERS
                    if not common and not short:
                        self._add(word, kind)

    def replaced(self, text: str) -> str:
        """Return the text with every name replaced; its length and its lines stay.

        Learn from every file first: a replacement may be a name in a file that is learned later.
        """
        self._settle()
        text = _ARGUMENTS.sub(self._arguments, text)
        text = _MAC.sub(lambda found: self._hexadecimal(found[0]), text)
        text = _UUID.sub(lambda found: self._hexadecimal(found[0]), text)
        text = _LONG_ADDRESS.sub(lambda found: self._long_address(found[0]), text)
        text = _ADDRESS.sub(lambda found: self._address(found[0]), text)
        return _WORD.sub(lambda found: self._replacement(found[0]), text)

    def replaced_in_file_name(self, name: str) -> str:
        """Return a file's name with every name replaced, in any letter case and however short: it has no headings."""
        return _WORD.sub(lambda found: self._in_file_name(found[0]), self.replaced(name))

    def found_in(self, text: str) -> set[str]:
        return {word for word in _WORD.findall(text) if self._replacement(word) != word}

    def found_in_file_name(self, name: str) -> set[str]:
        """Return the words of a file's name that have a replacement there."""
        return {word for word in _WORD.findall(name) if self._in_file_name(word) != word}

    def found_in_records(self, items: Iterable[Single]) -> set[str]:
        """Return the words that have a replacement, of names beyond ASCII in the records of a format.

        A text may hold such a name in another form, in which it is not found: escaped, or in an unknown code page.
        """
        return {word for _, value in _named(items) if not value.isascii() for word in self.found_in(value)}

    @property
    def words(self) -> list[str]:
        return sorted(self._found)

    def _names(self, value: str, kind: str) -> None:
        if _IBM.fullmatch(value):
            self.left.add(value)
            return
        place = _LOCATION.match(value)  # its other words name kinds of places: -T1 a port, -S1 a part of one
        for word in [place[1] or place[2]] if place else _WORD.findall(value):
            self._add(word, kind)

    def _add(self, word: str, kind: str) -> None:
        if word in self._found:
            return
        device = kind in ("path", "command") and _DEVICE.fullmatch(word)
        common = device or word.casefold() in self._keep or word in self._headings or _IBM.fullmatch(word)
        if len(word) < 2 or word.isdigit() or common or re.fullmatch(r"[0-9.eE+-]+", word):
            self.left.add(word)
            return
        self.kinds[kind] += 1
        self._found.update(dict.fromkeys(form for form in _forms(word) if form not in self._headings))
        self._folded.setdefault(word.casefold(), word)
        self._most_parts = max(self._most_parts, word.count("_") + 1)

    def _settle(self) -> None:
        """Choose the replacement of each name found so far."""
        for word in [word for word in self._found if word not in self._new]:
            self._new[word] = made = self._made(word)
            self._taken.update(dict.fromkeys(_forms(made), word.casefold()))

    def _replacement(self, word: str) -> str:
        """Return the replacement of a word, or of the parts of a word with underscores."""
        if word in self._headings:
            return word
        if word in self._new or "_" not in word:
            return self._new.get(word, word)
        return self._by_part(word, lambda part: self._new.get(part) if len(part) >= _SHORT else None)

    def _in_file_name(self, word: str) -> str:
        new, folded = self._new, self._folded
        return self._by_part(word, lambda part: new.get(part) or new.get(folded.get(part.casefold(), "")))

    def _by_part(self, word: str, replacement: Callable[[str], str | None]) -> str:
        """Return a word with its longest parts between underscores replaced, where they have a replacement."""
        parts, made, at = word.split("_"), [], 0
        while at < len(parts):
            ends = range(min(len(parts), at + self._most_parts), at, -1)
            found = ((end, new) for end in ends if (new := replacement("_".join(parts[at:end]))))
            at, part = next(found, (at + 1, parts[at]))
            made.append(part)
        return "_".join(made)

    def _made(self, word: str) -> str:
        """Return a replacement for every letter case of a name that replaces no other name and is no name itself."""
        name = word.casefold()
        for attempt in range(1_000):
            made = self._shaped(word, attempt)
            forms = _forms(made)
            free = all(form not in self._found and self._taken.get(form, name) == name for form in forms)
            if free and made.casefold() not in self._folded:
                return made
        raise CounterflowError(
            f"{word}: every other name of its shape stands in these files too", hint=f"--keep {word}", exit_code=2
        )

    def _shaped(self, word: str, attempt: int = 0) -> str:
        """Return a word of the same shape: letters for letters, digits for digits."""
        seed = f"{attempt}/{word.casefold()}".encode()
        noise = hashlib.blake2b(seed, key=self._key, digest_size=64).digest() * (len(word) // 64 + 1)
        return "".join(map(_like, word, noise))

    def _arguments(self, found: re.Match[str]) -> str:
        head, line = (found[1], found[2]) if found[1] else (found[3], found[4])
        return head + _WORD.sub(lambda word: word[0] if word[0].isdigit() else self._shaped(word[0]), line)

    def _address(self, text: str) -> str:
        if text.startswith(("127.", "0.", "255.")):
            return text
        noise = hashlib.blake2b(text.encode(), key=self._key, digest_size=4).digest()
        sizes = {1: (1, 9), 2: (10, 90), 3: (100, 100)}
        parts = ((sizes[len(part)], byte) for part, byte in zip(text.split("."), noise, strict=True))
        return ".".join(str(first + byte % span) for (first, span), byte in parts)

    def _long_address(self, text: str) -> str:
        try:
            address = IPv6Address(text)
        except ValueError:  # such as a time with fractions
            return text
        return text if address.is_loopback or address.is_unspecified else self._hexadecimal(text)

    def _hexadecimal(self, text: str) -> str:
        noise = hashlib.blake2b(text.casefold().encode(), key=self._key, digest_size=64).digest()
        digits = "0123456789ABCDEF" if text.upper() == text else "0123456789abcdef"
        return "".join(digits[byte % 16] if char.isalnum() else char for char, byte in zip(text, noise, strict=False))


def _named(items: Iterable[Single]) -> Iterator[tuple[str, str]]:
    """Yield the column and the value of each name in the records of a format."""
    for item in items:
        if not isinstance(item, Record):
            continue
        for column, value in item.fields.items():
            whole = column == "job" and "job_name" in item.fields  # each of its parts is a column
            named = (column in _COLUMNS and not whole) or (
                column == "value" and item.dataset == "config" and _is_name(item.fields)
            )
            if named and isinstance(value, str) and len(value) <= _LONGEST:
                yield column, value


def _is_name(setting: Fields) -> bool:
    section, item, name = setting.get("section"), setting.get("item"), str(setting.get("name"))
    return bool(_NAMING.fullmatch(name)) or (section, name) in _SERIALS or (section, item) in _SERIALS


def _columns(text: str, file: str) -> Iterator[tuple[str, str]]:
    """Yield heading and value of each cell of a table; none where a text is no table with headings."""
    between, headings = "", []  # type: tuple[str, list[str]]
    for line in text.lstrip("\ufeff").split("\n"):
        first = not between
        between = between or separator(line)
        try:
            cells = [cell.strip() for cell in split(line.rstrip("\r"), between)]
        except csv.Error:  # longer than any name is
            continue
        worded = all(map(_HEADING.fullmatch, cells))
        table = table_of(cells, file) if first or worded else None
        if table is not None:  # a file may hold several
            headings = [table.named(cell) or label(cell) for cell in cells]
        elif first and (len(cells) < 3 or cells[0] == "AAA" or not worded):
            return  # lines of nmon hold words alone, and are no headings
        elif first:
            headings = [label(cell) for cell in cells]
        elif len(cells) == len(headings):
            yield from zip(headings, cells, strict=True)


def _forms(word: str) -> tuple[str, ...]:
    """Return the letter cases in which a word is replaced."""
    return (word,) if len(word) < _SHORT else (word, word.upper(), word.lower())


def _like(char: str, byte: int) -> str:
    if char.isdigit():
        return str(byte % 10)
    if char.isalpha():
        letters = ascii_lowercase if char.isascii() else _BEYOND_ASCII
        letter = letters[byte % len(letters)]
        return letter.upper() if char.isupper() else letter
    return char
