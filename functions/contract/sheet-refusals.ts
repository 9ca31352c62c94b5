/** Why a workbook, or a cell of it, is refused: rules like those of source-refusals.ts. */
export const SHEET_RULES = {
  // --- the workbook
  'sheet-missing': 'has no sheet of the name that the profile tells',
  'sheet-choice':
    'has more than one sheet that is shown; send a workbook with one, or have its name set in the profile',
  'sheet-damaged': 'is a damaged workbook; open it in Excel, save it again and send that',
  'sheet-cells': 'has more cells than a sheet of shares may have; delete the columns that nobody needs',
  'sheet-bytes': 'has a sheet that unpacks to more than sheets of shares do; delete what nobody needs, or send CSV',
  'sheet-strings': 'has more text than a workbook of shares may have; delete what nobody needs, or send CSV',
  // --- one cell
  'cell-number': 'is a number in the sheet, which loses the zeros it begins with; format the column as text',
  'cell-digits':
    'is a number of more digits than a spreadsheet keeps (15), so some are lost; format the column as text',
  'cell-date': 'was turned into a date by the spreadsheet; format the column as text and write the value again',
  'cell-percent':
    'is shown as a per cent and stored as a fraction; format the column as a number and write a quarter as 25',
  'cell-boolean': 'is TRUE or FALSE in the sheet and no text; format the column as text and write the value again',
  'cell-error': 'is an error of a formula; correct the sheet',
  'cell-formula': 'is a formula whose result is not stored; open the file in Excel and save it, or paste the values',
  'cell-escape': 'has an escape of a spreadsheet (_x0041_) and can be read in two ways; enter it without one',
} as const
