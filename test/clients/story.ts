import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** What a client can do with Belfry: a row of docs/clients.md. */
export interface Outcome {
  client: string
  version: string
  works: string[]
  lacks: string[]
}

const page = join(import.meta.dirname, '../../docs/clients.md')

/** A newcomer's way through a client, chapter by chapter. Each chapter is a test of its own. */
export class Story {
  readonly #test: TestContext
  readonly #outcome: Outcome

  constructor(test: TestContext, { client, version }: Pick<Outcome, 'client' | 'version'>) {
    this.#test = test
    this.#outcome = { client, version, works: [], lacks: [] }
  }

  async works(chapter: string, run: () => unknown) {
    this.#outcome.works.push(chapter)
    await this.#test.test(chapter, async () => void (await run()))
  }

  /** What the client offers and Belfry does not serve. The test fails as soon as it works, because the page is wrong then. */
  async lacks(what: string, message: RegExp, run: () => Promise<unknown>) {
    this.#outcome.lacks.push(what)
    await this.#test.test(`without ${what}`, () => assert.rejects(run(), { message }))
  }

  /** Adds the outcome of chapters that ran elsewhere. */
  add({ works, lacks }: Pick<Outcome, 'works' | 'lacks'>) {
    this.#outcome.works.push(...works)
    this.#outcome.lacks.push(...lacks)
  }

  /** Compares docs/clients.md with this run. `npm run clients` names a folder for outcomes instead, and writes the page from them. */
  async end() {
    const { client } = this.#outcome
    const folder = process.env.BELFRY_CLIENT_OUTCOMES
    if (folder) writeFileSync(join(folder, `${client.replaceAll(/\W/g, '-')}.json`), JSON.stringify(this.#outcome))
    else
      await this.#test.test('docs/clients.md is up to date', () => {
        const row = readRows().find((row) => row.client === client)
        // Each release of Debian has other versions.
        const version = this.#outcome.version.endsWith('(npm)') ? this.#outcome.version : row?.version
        assert.deepEqual(row, { ...this.#outcome, version }, `Run "npm run clients" to update the row of ${client}`)
      })
  }
}

const heading = '| client | version | works | does not work |\n|---|---|---|---|\n'
const cells = (chapters: string[]) => chapters.join('; ') || 'nothing known'

export function readRows(): Outcome[] {
  const [, table = ''] = readFileSync(page, 'utf8').split(heading)
  return [...table.matchAll(/^\| (.+) \| (.+) \| (.+) \| (.+) \|$/gm)].map(
    ([, client = '', version = '', works = '', lacks = '']) => {
      const read = (cell: string) => (cell === cells([]) ? [] : cell.split('; '))
      return { client, version, works: read(works), lacks: read(lacks) }
    },
  )
}

/** Replaces the rows of these clients; the others keep theirs. */
export function writeRows(outcomes: Outcome[]) {
  const rows = new Map([...readRows(), ...outcomes].map((row) => [row.client, row]))
  const lines = [...rows.values()]
    .sort((a, b) => (a.client.toLowerCase() < b.client.toLowerCase() ? -1 : 1))
    .map(({ client, version, works, lacks }) => `| ${client} | ${version} | ${cells(works)} | ${cells(lacks)} |\n`)
  const text = readFileSync(page, 'utf8')
  const start = text.indexOf(heading) + heading.length
  writeFileSync(page, text.slice(0, start) + lines.join('') + text.slice(start).replace(/^(\|.*\n)*/, ''))
}

/** The version of a package that npm installed. */
export function npmVersion(name: string) {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../node_modules', name, 'package.json'), 'utf8'))
  return `${version} (npm)`
}

/** A package without types. */
// biome-ignore lint/suspicious/noExplicitAny: the assertions are its type.
export const requireClient = (name: string): any => createRequire(import.meta.url)(name)
