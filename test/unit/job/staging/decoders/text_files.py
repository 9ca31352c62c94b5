"""Texts, packed and encoded, with the records that Python's csv module reads from them; see make-vectors.py."""

import csv
import gzip
import hashlib
import io
import random
import zipfile

FIXED_DATE = (2026, 11, 30, 0, 0, 0)


def csv_records(text, delimiter):
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    # Blank lines are no records, and neither are lines of nothing but spaces.
    return [row for row in rows if not (len(row) == 0 or (len(row) == 1 and row[0].strip() == ""))]


def text_files():
    written = {
        "plain": "a,b\n1,2\n",
        "crlf": "a,b\r\n1,2\r\n",
        "cr": "a,b\r1,2\r",
        "no end": "a,b\n1,2",
        "quotes": '"a","b ""c"""\n"1,5","2\n3"\n',
        "crlf in quotes": '"a\r\nb",c\r\n1,2\r\n',
        "blank lines": "a,b\n\n \n1,2\n\n",
        "empty values": ",a,\n,,b\n",
        "spaces kept": " a , b\t\n",
        "one column": "a\nb\n",
        "quoted empty": '"",""\n"a",""\n',
        "hangul": "트랙,몫\n봄날,뷁\n",
        "wide": ",".join(str(n) for n in range(300)) + "\n",
        "stray closing": '"a"b,c\n',
        "open": 'a,"b\nc\n',
        "emoji": "a😀,b\u200b\n",
    }
    for name, text in written.items():
        yield name, text, ","
        if "," in text:
            yield name + ", tabs", text.replace(",", "\t"), "\t"
            yield name + ", semicolons", text.replace(",", ";"), ";"
    alphabet = ["a", "1", "가", '"', '""', ",", "\n", "\r\n", " ", "ü", "=", "\t"]
    for number in range(120):
        if number % 2 == 0:
            text = "".join(random.choice(alphabet) for _ in range(random.randrange(1, 40)))
        else:
            out = io.StringIO(newline="")
            writer = csv.writer(out, quoting=random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
            for _ in range(random.randrange(1, 6)):
                writer.writerow("".join(random.choice(alphabet) for _ in range(random.randrange(6))) for _ in range(3))
            text = out.getvalue()
        yield f"random {number}", text, ","


ENCODINGS = {"utf-8": "utf-8", "utf-8 with a mark": "utf-8-sig", "utf-16": "utf-16", "cp949": "cp949"}


def encoded_files():
    for name, text, delimiter in text_files():
        records = csv_records(text, delimiter)
        data = text.encode("utf-8")
        yield f"csv: {name}", data, delimiter, records
    sample = "트랙,share\n봄날 뷁 힣,25\nüber,1\n"
    for name, encoding in ENCODINGS.items():
        text = sample.replace("ü", "u") if encoding == "cp949" else sample
        data = text.encode(encoding)
        records = csv_records(text, ",")
        yield f"encoding: {name}", data, ",", records
        yield f"gzip of {name}", gzip.compress(data, mtime=0), ",", records
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo("shares.csv", FIXED_DATE), data)
        yield f"zip of {name}", out.getvalue(), ",", records


# What is left out, by the bytes it begins with: ETEN's extension of Big5, which Microsoft's 950 has not (it is refused
# here), and three places where GBK and GB 18030 differ (the euro sign, a wide space, a letter of Pinyin).
LEFT_OUT = {"cp950": ["c6", "c7", "c8"], "gb18030": ["80", "a3a0", "a8bc"]}


def decoded(data, name):
    """Code points; '!' where there are none, or only some of private use, which mean something else everywhere."""
    try:
        text = data.decode(name)
    except UnicodeDecodeError:
        return "!"
    return "!" if any("\ue000" <= c <= "\uf8ff" for c in text) else " ".join(f"{ord(c):x}" for c in text)


def code_pages():
    """Every one- and two-byte sequence of each code page, one digest for each lead byte."""
    for name in ["cp949", "cp932", "cp950", "gb18030", "windows-1252"]:
        left_out = LEFT_OUT.get(name, [])
        digests = []
        for lead in range(0x80, 0x100):
            sequences = [bytes([lead]), *(bytes([lead, trail]) for trail in range(0x20, 0x100))]
            lines = [
                f"{data.hex()} {decoded(data, name)}"
                for data in sequences
                if not any(data.hex().startswith(begin) for begin in left_out)
            ]
            digests.append(hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16])
        yield {"name": name, "leftOut": left_out, "digests": digests}
