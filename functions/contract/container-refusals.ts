/**
 * Why a file is refused for what it is, before a value of it is read: rules like those of source-refusals.ts. Each is
 * known by the file's first bytes or by its directory, never by its name.
 */
export const CONTAINER_RULES = {
  // --- not a file of shares
  'xlsx-unexpected': 'is an Excel workbook and a text file was expected; save the sheet as "CSV UTF-8" and send that',
  'text-unexpected': 'is a text file and an Excel workbook was expected; send the workbook itself (.xlsx)',
  'old-xls': 'is a workbook of an old Excel (.xls), whatever its name says; open it in Excel and save it as .xlsx',
  'office-password': 'is an Office file with a password; remove the password (File, Info) and save it again',
  'office-old': 'is a file of an old Office, whatever its name says; save the sheet as .xlsx or as "CSV UTF-8"',
  'office-other': 'is an Office file and not a workbook with sheets (.xlsx); send the workbook',
  xlsb: 'is a binary Excel workbook (.xlsb); save it as .xlsx',
  ods: 'is an OpenDocument spreadsheet (.ods); save it as .xlsx or as "CSV UTF-8"',
  numbers: 'is a document of Numbers; export it as Excel (.xlsx) or CSV',
  html: 'is a web page (HTML), as some programs export under a name like .xls; open it in Excel and save it as .xlsx',
  xml: 'is an XML document; open it in Excel and save it as .xlsx or as "CSV UTF-8"',
  pdf: 'is a PDF document; send the table itself as .xlsx or CSV',
  drm: 'is locked by a document protection program (DRM); unlock it there, or save it on a computer without protection',
  binary: 'is no text but binary data; send the table itself as .xlsx or CSV',
  // --- packed in a way that is not read
  'packed-tar': 'is a tar archive; send the file itself, or pack that one file with gzip or zip',
  'packed-twice': 'is packed twice; unpack it once and send that',
  'packed-7z': 'is a 7z archive; unpack it, or pack that one file with gzip or zip',
  'packed-rar': 'is a RAR archive; unpack it, or pack that one file with gzip or zip',
  'packed-other': 'is packed with a program that is not read (bzip2, xz, Zstandard, LZ4); pack it with gzip or zip',
  'zip-password': 'is a zip archive with a password; pack the file without one',
  'zip-empty': 'is a zip archive with no file in it; pack the file again',
  'zip-several': 'is a zip archive with several files; send each of them by itself',
  'zip-method':
    'is a zip archive of a kind that is not read (Deflate64, LZMA, Zstandard); pack the file as a usual zip',
  'zip-truncated': 'is a zip archive whose end is missing; upload it again',
  'zip-damaged': 'is a damaged zip archive; pack it and upload it again',
  'zip-expansion': 'unpacks to more than files of shares do; pack the CSV file itself, or send it unpacked',
  'zip-bytes':
    'is larger than a zip archive or a workbook may be; pack the CSV file with gzip, which has no such bound',
  // --- text that cannot be read as it is
  'utf16-unmarked': 'is UTF-16 text without its byte order mark; save it as UTF-8, in Excel "CSV UTF-8"',
} as const
