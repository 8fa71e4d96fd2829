import { subscribedEvents } from '#parts/webhooks/events.ts'
import type { HookTarget } from '#parts/webhooks/hook-target.ts'
import { Refusal } from '#platform/errors.ts'
import type { Seed } from './format.ts'
import { listNames, suggest, suggestOrList } from './nearest.ts'
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
    if (this.#complete && name !== undefined && !known.has(name)) this.report(path, describeMissing(name, what, known))
  }

  /** Names that differ in upper and lower case only are the same to the product. */
  unique(path: Path, names: (string | undefined)[], field?: string) {
    const seen = new Map<string, number>()
    for (const [index, name] of names.entries()) {
      if (name === undefined) continue
      const first = seen.get(name.toLowerCase())
      if (first === undefined) seen.set(name.toLowerCase(), index)
      else this.report([...path, index, ...(field ? [field] : [])], describeTwice(name, names[first]))
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
    for (const [index, { events = [] }] of hooks.entries()) this.events([...path, index, 'events'], events, type)
  }

  /** Events that a hook or an app can subscribe to. */
  events(path: Path, events: string[], type: HookTarget['type']) {
    const known = new Set(subscribedEvents(['*'], type))
    for (const [index, event] of events.entries()) {
      if (event !== '*' && !known.has(event))
        this.report([...path, index], `there is no event "${event}"${suggestOrList(event, known)}`)
    }
  }
}

/** Other names that differ in upper and lower case only, or are near; all of them if none is. */
function describeMissing(name: string, what: string, known: ReadonlySet<string>) {
  const said = `there is no ${what} "${name}" in the seed`
  const same = [...known].find((other) => other.toLowerCase() === name.toLowerCase())
  if (same) return `${said}, but "${same}". Upper and lower case must be the same`
  if (!known.size) return `${said}, nor any other`
  return `${said}${suggest(name, known) || `. Add it, or choose from: ${listNames([...known])}`}`
}

const describeTwice = (name: string, first = name) =>
  first === name ? `"${name}" is there twice` : `"${name}" is there already as "${first}": upper and lower case do not count`
