import { checkEvents } from '#parts/webhooks/events.ts'
import { Refusal } from '#platform/errors.ts'
import type { Seed } from './format.ts'
import { suggest } from './nearest.ts'
import type { Fault, Path } from './path.ts'
import type { SeedHook } from './repository-format.ts'

/** Collects what a seed refers to and does not have. */
export class References {
  readonly faults: Fault[] = []
  readonly users: Set<string>
  readonly organizations: Set<string>
  readonly repositories: Set<string>

  readonly #complete: boolean

  constructor({ users = [], organizations = [], repositories = [] }: Seed, complete: boolean) {
    this.#complete = complete
    this.users = new Set(['admin', ...users.map(({ login }) => login)])
    this.organizations = new Set(organizations.map(({ login }) => login))
    this.repositories = new Set(repositories.map(({ name }) => name))
  }

  report(path: Path, message: string) {
    this.faults.push({ path, message })
  }

  user = (path: Path, login: string | undefined) => this.find(path, login, 'user', this.users)
  repository = (path: Path, name: string | undefined) => this.find(path, name, 'repository', this.repositories)

  usersOf(path: Path, logins: string[] = []) {
    for (const [index, login] of logins.entries()) this.user([...path, index], login)
    this.unique(path, logins)
  }

  find(path: Path, name: string | undefined, what: string, known: ReadonlySet<string>) {
    if (this.#complete && name !== undefined && !known.has(name))
      this.report(path, `there is no ${what} "${name}" in the seed${suggest(name, known)}`)
  }

  /** Names that differ in upper and lower case only are the same to the product. */
  unique(path: Path, names: (string | undefined)[], field?: string) {
    const seen = new Map<string, number>()
    for (const [index, name] of names.entries()) {
      if (name === undefined) continue
      const first = seen.get(name.toLowerCase())
      if (first === undefined) seen.set(name.toLowerCase(), index)
      else this.report([...path, index, ...(field ? [field] : [])], `"${name}" is there twice`)
    }
  }

  /** Runs a check of the product. */
  attempt(path: Path, check: () => unknown) {
    try {
      check()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      this.report(path, error.faults?.[0]?.message ?? error.message)
    }
  }

  hooks(path: Path, hooks: SeedHook[] = [], type: 'repository' | 'organization') {
    for (const [index, { events = [] }] of hooks.entries())
      this.attempt([...path, index, 'events'], () => checkEvents(events, type))
  }
}
