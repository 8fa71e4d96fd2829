import type { Listed, Slice } from '#platform/listed.ts'
import type { Administration } from './administration.ts'
import { type Option, type Subcommand, subcommand, type Values, wholeNumber } from './subcommand.ts'
import { type Cell, textTable } from './table.ts'

/** Options of every list. */
export const listOptions = {
  limit: { type: 'string', default: '100', value: 'N', about: 'how many to print [100]' },
  page: { type: 'string', default: '1', value: 'N', about: 'which page of so many [1]' },
} as const

interface List<O extends Record<string, Option>, Row> {
  name: string
  arguments?: string
  summary: string
  options?: O
  /** Checks the options before the database is opened. Returns what reads a page. */
  list(options: Values<O>, given: string[]): (admin: Administration, slice: Slice) => Promise<Listed<Row>>
  /** The columns of the table, by their headings. */
  columns: Record<string, (row: Row) => Cell>
  /** An entry for `--json`; the whole row by default. */
  data?: (row: Row) => unknown
}

/** A subcommand that prints a page of a list. */
export function listCommand<const O extends Record<string, Option>, Row>(definition: List<O, Row>): Subcommand {
  const { name, summary, arguments: args, columns, data = (row) => row } = definition
  return subcommand({
    name,
    summary,
    ...(args && { arguments: args }),
    options: { ...definition.options, ...listOptions },
    async run({ options, given, open }) {
      const slice = sliceOf(name, options as unknown as Values<typeof listOptions>)
      const read = definition.list(options as unknown as Values<O>, given)
      const { rows, total } = await read(await open(), slice)
      const lines = rows.map((row) => Object.values(columns).map((cell) => cell(row)))
      return { data: rows.map(data), text: textTable(Object.keys(columns), lines, total) }
    },
  })
}

export function sliceOf(command: string, { limit, page }: Values<typeof listOptions>): Slice {
  const size = wholeNumber(command, 'limit', limit, 1, 10_000)
  return { limit: size, offset: size * (wholeNumber(command, 'page', page, 1, 1_000_000) - 1) }
}
