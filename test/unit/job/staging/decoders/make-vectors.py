"""Writes vectors.json: files of many forms, each with the records that Python's own decoders read from it.

    python3 -m venv .venv && .venv/bin/pip install openpyxl==3.1.5
    .venv/bin/python test/unit/job/staging/decoders/make-vectors.py && npm run format

Nothing of Sharelock is used here: csv, codecs, gzip and zipfile are Python's, openpyxl reads the workbooks. A file that
Python refuses has null for its records. The same numbers come out each time (the seed is fixed).
"""

import base64
import json
import pathlib
import random

import sheet_files
import text_files

SEED = 15
random.seed(SEED)


def vectors():
    texts = [
        {"name": name, "file": base64.b64encode(data).decode(), "delimiter": delimiter, "records": records}
        for name, data, delimiter, records in text_files.encoded_files()
    ]
    books = [*sheet_files.written_books(), *((f"random {n}", sheet_files.random_book(n)) for n in range(25))]
    sheets = [
        {"name": name, "file": base64.b64encode(data).decode(), "records": sheet_files.sheet_records(data, "S")} for name, data in books
    ]
    return {"texts": texts, "sheets": sheets, "codePages": list(text_files.code_pages())}


pathlib.Path(__file__).with_name("vectors.json").write_text(json.dumps(vectors(), ensure_ascii=False, indent=1) + "\n")
