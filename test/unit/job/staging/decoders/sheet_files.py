"""Workbooks, with the records that openpyxl reads from them; see make-vectors.py."""

import datetime
import io
import random
import zipfile
from decimal import Decimal

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

FIXED_DATE = (2026, 11, 30, 0, 0, 0)


def shown(cell):
    """A cell as [kind, text]; None where it is blank."""
    value = cell.value
    if value is None or value == "":
        return None
    if cell.data_type == "e":
        return ["error", value]
    if isinstance(value, bool):
        return ["boolean", "TRUE" if value else "FALSE"]
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time, datetime.timedelta)):
        return ["date", ""]
    if isinstance(value, (int, float)):
        text = format(Decimal(repr(float(value))), "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return ["number", "0" if text in ("-0", "") else text]
    return ["text", value]


def sheet_records(data, sheet):
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
        rows = []
        for row in book[sheet].iter_rows():
            cells = [shown(cell) for cell in row]
            while cells and cells[-1] is None:
                cells.pop()
            if any(cell is not None and cell[1].strip() + cell[0] != "text" for cell in cells):
                rows.append([row[0].row, [["text", ""] if cell is None else cell for cell in cells]])
        return rows
    except (KeyError, ValueError, InvalidFileException, zipfile.BadZipFile):
        return None


def saved(book):
    out = io.BytesIO()
    book.save(out)
    # Saved anew without the time, so that the same bytes come out each time.
    fixed = io.BytesIO()
    with zipfile.ZipFile(out) as source, zipfile.ZipFile(fixed, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            if name != "docProps/core.xml":
                target.writestr(zipfile.ZipInfo(name, FIXED_DATE), source.read(name), zipfile.ZIP_DEFLATED)
    return fixed.getvalue()


FORMATS = ["General", "0.00", "0%", "yyyy-mm-dd", "#,##0.00;[Red]-#,##0.00", '0.0 "m"', "[h]:mm", "mmm yy", "0.00E+00", "@"]


def random_value():
    kind = random.randrange(8)
    if kind == 0:
        return round(random.random() * 100, random.randrange(7))
    if kind == 1:
        return random.randrange(10**14)
    if kind == 2:
        return random.random() * 10 ** random.randrange(-9, 12)
    if kind == 3:
        return random.choice(["KRA012600001", "가나다", " a ", "1e5", "nan", "=x", "a\nb", "<&>", "'0001"][:8] + ["<&>"])
    if kind == 4:
        return datetime.datetime(2026, random.randrange(1, 13), random.randrange(1, 28))
    if kind == 5:
        return random.choice([True, False])
    return None if kind == 6 else str(random.randrange(10**11)).zfill(11)


def random_book(number):
    book = openpyxl.Workbook()
    book.active.title = "S"
    if number % 3 == 0:
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    for row in range(1, random.randrange(2, 9)):
        for column in range(1, random.randrange(2, 7)):
            value = random_value()
            cell = book.active.cell(row, column)
            if isinstance(value, str) and value.startswith("="):
                value = "x"
            cell.value = value
            # openpyxl takes a date that no calendar has for an error.
            if isinstance(value, float) and value < 1_000_000 and random.random() < 0.5:
                cell.number_format = random.choice(FORMATS)
    return saved(book)


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


PLAIN_STYLES = '<cellXfs><xf numFmtId="0"/></cellXfs>'


def written_book(data, strings="", prefix="", styles=""):
    """A workbook of hand-written XML."""
    p = prefix + ":" if prefix else ""
    ns = f'xmlns:{prefix}="{MAIN}"' if prefix else f'xmlns="{MAIN}"'
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    overrides = {
        "/xl/workbook.xml": "sheet.main",
        "/xl/worksheets/sheet1.xml": "worksheet",
        "/xl/sharedStrings.xml": "sharedStrings",
        "/xl/styles.xml": "styles",
    }
    types = "".join(f'<Override PartName="{k}" ContentType="{kind}.{v}+xml"/>' for k, v in overrides.items())
    rels = "".join(
        f'<Relationship Id="r{n}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(
            [("worksheet", "/xl/worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml"), ("styles", "styles.xml")]
        )
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="a" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="r0"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{rels}</Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}">{styles or PLAIN_STYLES}</styleSheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{strings}</sst>',
        "xl/worksheets/sheet1.xml": f"<{p}worksheet {ns}><{p}sheetData>{data}</{p}sheetData></{p}worksheet>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, FIXED_DATE), text.encode(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def written_books():
    shared = "<si><t>가</t></si><si><r><t>b</t></r><r><rPr><b/></rPr><t xml:space=\"preserve\"> c</t></r></si><si><t/></si>"
    cell = '<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1"><v>1</v></c>'
    yield "shared strings", written_book(f'<row r="1">{cell}</row>', shared)
    yield "rows and cells without places", written_book("<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></row>")
    yield "gaps", written_book('<row r="3"><c r="B3"><v>1</v></c><c r="AA3"><v>2</v></c></row><row r="9"><c r="A9"/></row>')
    yield "a prefix", written_book('<x:row r="1"><x:c r="A1"><x:v>7</x:v></x:c></x:row>', prefix="x")
    yield "errors and truth", written_book('<row r="1"><c r="A1" t="e"><v>#DIV/0!</v></c><c r="B1" t="b"><v>0</v></c></row>')
    yield "inline", written_book('<row r="1"><c r="A1" t="inlineStr"><is><t>&lt;&#xAC00;&gt;</t></is></c></row>')
    yield "formulas", written_book('<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1" t="str"><f>"a"</f><v>a</v></c></row>')
    for value in ["33.299999999999997", "1E-3", "1.5E+3", "1e5", "0.1", "100", "1.0000000000000001E-5", "123456789012345"]:
        yield f"number {value}", written_book(f'<row r="1"><c r="A1"><v>{value}</v></c></row>')
    formats = "".join(f'<numFmt numFmtId="{170 + n}" formatCode="{code.replace(chr(34), "&quot;")}"/>' for n, code in enumerate(FORMATS))
    xfs = "".join(f'<xf numFmtId="{170 + n}"/>' for n in range(len(FORMATS))) + "".join(f'<xf numFmtId="{n}"/>' for n in [14, 22, 45, 47, 9, 2, 49])
    count = len(FORMATS) + 7
    cells = "".join(f'<row r="{n + 1}"><c r="A{n + 1}" s="{n}"><v>0.25</v></c></row>' for n in range(count))
    yield "formats", written_book(cells, styles=f"<numFmts>{formats}</numFmts><cellXfs>{xfs}</cellXfs>")
