/** A row of a CSV file (RFC 4180). */
export interface CsvRow {
  /** From 1. */
  line: number
  fields: string[]
}

/** The rows that are not empty. A quoted field may contain commas, line ends and doubled quotes. `refuse` makes the error about a wrong line. */
export function* readCsv(text: string, refuse: (row: CsvRow, why: string) => Error): Generator<CsvRow> {
  let line = 1
  let row: CsvRow = { line, fields: [] }
  let at = text.startsWith('\ufeff') ? 1 : 0
  while (at < text.length) {
    const [whole, quoted, plain] = matchField(text, at)
    if (whole === undefined) throw refuse({ line, fields: [] }, 'a quote is not closed, or is in the middle of a field')
    row.fields.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    at += whole.length
    line += whole.split('\n').length - 1
    const end = /\r?\n|,|$/y
    end.lastIndex = at
    const [separator = ''] = end.exec(text) ?? []
    at += separator.length
    if (separator === ',') {
      if (at === text.length) row.fields.push('')
      else continue
    }
    if (!isEmpty(row)) yield row
    if (separator !== '') line++
    row = { line, fields: [] }
  }
}

function matchField(text: string, at: number): (string | undefined)[] {
  const field = /"((?:[^"]|"")*)"(?=,|\r?\n|$)|([^",\r\n]*(?:\r(?!\n)[^",\r\n]*)*)(?=,|\r?\n|$)/y
  field.lastIndex = at
  return field.exec(text) ?? []
}

const isEmpty = ({ fields }: CsvRow) => fields.length === 1 && fields[0] === ''
