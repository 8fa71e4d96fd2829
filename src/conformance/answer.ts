import { describeMismatch, type Shape } from './shape.ts'

/** A request and its response as a report shows them. Credentials are left out. */
export interface Exchange {
  method: string
  url: string
  headers: Record<string, string>
  body: string | null
  status: number
  response_headers: Record<string, string>
  response_body: string
}

/** A response that is not what the specification says. */
export class Mismatch extends Error {
  readonly expected: string
  readonly got: string
  readonly exchange: Exchange | undefined

  constructor(expected: string, got: string, exchange?: Exchange) {
    super(`expected ${expected}, got ${got}`)
    this.expected = expected
    this.got = got
    this.exchange = exchange
  }
}

/** Tells failures of what a check needs from failures of what it is about. */
export const preparing = <Value>(work: Promise<Value>): Promise<Value> =>
  work.catch((error) => {
    if (!(error instanceof Mismatch)) throw error
    throw new Mismatch(`${error.expected}, to prepare the check`, error.got, error.exchange)
  })

/** Why a check cannot be made here. */
export class Skip extends Error {}

export type Row = Record<string, unknown>

/** A response with the assertions that checks make. Each returns the answer itself. */
export class Answer {
  readonly exchange: Exchange
  readonly status: number
  readonly headers: Headers
  readonly text: string

  constructor(exchange: Exchange, headers: Headers, text: string) {
    this.exchange = exchange
    this.status = exchange.status
    this.headers = headers
    this.text = text
  }

  fail(expected: string, got: string): never {
    throw new Mismatch(expected, got, this.exchange)
  }

  is(...statuses: number[]): this {
    if (!statuses.includes(this.status)) this.fail(`status ${statuses.join(' or ')}`, `status ${this.status}`)
    return this
  }

  /** For a request that only prepares a check, and that the specification does not describe: a server may lack it. */
  prepares(): this {
    if (this.status >= 200 && this.status < 300) return this
    throw new Skip(
      `It needs ${operationOf(this.exchange)}, which is not part of the specification: the server gave status ${this.status}.`,
    )
  }

  /** The value of a header, which must be there and match. */
  header(name: string, pattern = /./): string {
    const value = this.headers.get(name)
    if (value === null) this.fail(`a header ${name}`, 'none')
    if (!pattern.test(value)) this.fail(`the header ${name} to match ${pattern}`, value)
    return value
  }

  /** Succeeds if the condition holds; otherwise, the check fails with these words. */
  must(holds: boolean, expected: string, got: unknown): this {
    if (!holds) this.fail(expected, typeof got === 'string' ? got : (JSON.stringify(got) ?? 'undefined').slice(0, 500))
    return this
  }

  equals(what: string, got: unknown, expected: unknown): this {
    return this.must(
      JSON.stringify(got) === JSON.stringify(expected),
      `${what} to be ${JSON.stringify(expected)}`,
      JSON.stringify(got) ?? 'undefined',
    )
  }

  matches(shape: Shape): this {
    const problem = describeMismatch(shape, this.json())
    if (problem) this.fail(problem.expected, problem.got)
    return this
  }

  empty(): this {
    return this.must(this.text === '', 'an empty body', this.text.slice(0, 200))
  }

  json(): unknown {
    try {
      return JSON.parse(this.text)
    } catch {
      return this.fail('a JSON body', this.text.slice(0, 200) || 'an empty body')
    }
  }

  row(): Row {
    const value = this.json()
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.fail('a JSON object', this.text.slice(0, 200))
    return value as Row
  }

  list(): Row[] {
    const value = this.json()
    if (!Array.isArray(value)) this.fail('a JSON array', this.text.slice(0, 200))
    return value as Row[]
  }

  /** A list that must not be empty: what holds for each item of an empty one proves nothing. */
  items(): Row[] {
    const rows = this.list()
    if (rows.length === 0) this.fail('at least one item', 'an empty array')
    return rows
  }

  /** Items of the list that must all be as expected, and there must be one. */
  each(expected: string, holds: (row: Row) => boolean): this {
    const wrong = this.items().find((row) => !holds(row))
    return this.must(wrong === undefined, expected, wrong)
  }

  /** The address of a page in the `Link` header. */
  link(rel: string): string | undefined {
    const header = this.headers.get('link') ?? ''
    return header
      .split(/,\s*(?=<)/)
      .map((part) => /^<([^>]*)>;.*\brel="?([^";]+)/.exec(part))
      .find((found) => found?.[2] === rel)?.[1]
  }
}

/** The operation without names and numbers, so that the reasons of several checks are the same. */
const operationOf = ({ method, url }: Exchange) =>
  `${method} ${new URL(url).pathname
    .replace(/^.*?(?=\/(repos|orgs|user)\/)/, '')
    .replace(/^\/repos\/[^/]+\/[^/]+/, '/repos/{owner}/{repo}')
    .replace(/^\/orgs\/[^/]+/, '/orgs/{org}')
    .replace(/\/contents\/.*/, '/contents/{path}')
    .replaceAll(/\/\d+(?=\/|$)/g, '/{id}')}`

/** A nested value: `at(row, 'subject.title')`. */
export const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce((inner: unknown, name) => (typeof inner === 'object' && inner !== null ? (inner as Row)[name] : undefined), value)
