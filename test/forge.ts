import type { Belfry } from '#belfry.ts'
import { createUser } from '#hosting/people/people.ts'
import { allScopes } from '#identity/scopes.ts'
import { createToken } from '#identity/tokens.ts'
import { hashPassword } from '#platform/secrets.ts'
import { setUp } from '#setup.ts'
import { openWorker } from '#worker.ts'
import { type ServerOptions, type TestClock, takeServer } from './servers.ts'

export { TestClock } from './servers.ts'

type Body = Record<string, unknown> | unknown[] | string

/** Someone who acts through the interface, on either variant. */
export class Client {
  readonly #base: string
  readonly #headers: Record<string, string>

  constructor(base: string, headers: Record<string, string>) {
    this.#base = base
    this.#headers = headers
  }

  get base() {
    return this.#base
  }

  get headers() {
    return this.#headers
  }

  /** The same client with other headers besides. */
  with(headers: Record<string, string>) {
    return new Client(this.#base, { ...this.#headers, ...headers })
  }

  get = (path: string) => this.#send('GET', path)
  head = (path: string) => this.#send('HEAD', path)
  options = (path: string) => this.#send('OPTIONS', path)
  post = (path: string, body?: Body) => this.#send('POST', path, body)
  put = (path: string, body?: Body) => this.#send('PUT', path, body)
  patch = (path: string, body?: Body) => this.#send('PATCH', path, body)
  delete = (path: string, body?: Body) => this.#send('DELETE', path, body)

  #send(method: string, path: string, body?: Body) {
    const url = path.startsWith('http') ? path : `${this.#base}${path}`
    const sent = typeof body === 'string' ? body : body === undefined ? null : JSON.stringify(body)
    return fetch(url, { method, headers: this.#headers, body: sent, redirect: 'manual' })
  }

  /** The body of a GET that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and the assertions are their types.
  async read(path: string): Promise<any> {
    const answer = await this.get(path)
    if (answer.status !== 200) throw new Error(`GET ${path} gave ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
}

export class Person extends Client {
  readonly login: string
  readonly token: string
  /** The same person on the versioned variant. */
  readonly versioned: Client

  constructor(login: string, token: string, forge: { web: string; versioned: string }) {
    super(`${forge.web}/api/v3`, { authorization: `Bearer ${token}` })
    this.login = login
    this.token = token
    this.versioned = new Client(forge.versioned, { authorization: `Bearer ${token}` })
  }

  /** Makes a repository of their own, and gives it as the interface shows it. */
  async owns(name: string, options: Record<string, unknown> = {}) {
    return expect(201, await this.post('/user/repos', { name, ...options }))
  }
}

/** The body of an answer that must have this status. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
export async function expect(status: number, answer: Response): Promise<any> {
  const text = await answer.text()
  if (answer.status !== status) throw new Error(`${answer.url} gave ${answer.status} instead of ${status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** A field of each row, or a list of several fields. */
export const pick = (rows: readonly object[], ...fields: string[]) =>
  rows.map((row) => {
    const found = fields.map((field) => (row as Record<string, unknown>)[field])
    return fields.length > 1 ? found : found[0]
  })

export interface ForgeOptions extends ServerOptions {
  /** Run background jobs too. */
  worker?: boolean
}

export interface Forge extends AsyncDisposable {
  belfry: Belfry
  clock: TestClock
  web: string
  versioned: string
  /** Everything that was logged, a line each. */
  logged: string[]
  /** Every text message that was sent. */
  texts: { phone: string; text: string }[]
  admin: Person
  /** A caller without a name. */
  nobody: Client
  nobodyVersioned: Client
  /** A user with a token, of all scopes unless named. */
  person(login: string, scopes?: string[]): Promise<Person>
  /** Another token of a user. */
  tokenFor(login: string, scopes: string[]): Promise<Person>
  organization(login: string, owner: Person): Promise<void>
}

/** Of each password, made once: to hash one takes as long as all else that makes a person. */
const hashes = new Map<string, string>()

/** A whole Belfry on an empty database, in this process, with people who act. */
export async function openForge({ worker: wanted = false, ...options }: ForgeOptions = {}): Promise<Forge> {
  await using undo = new AsyncDisposableStack()
  const { belfry, clock, logged, texts } = undo.use(await takeServer(options))
  const { db, settings } = belfry
  // Nobody signs in as the admin by password: to hash one would take a fifth of the time of all this.
  await db.transaction((transaction) =>
    createUser(transaction, { login: 'admin', email: null, password_hash: null, site_admin: true }),
  )
  await setUp(belfry)
  if (wanted) {
    const worker = await openWorker(belfry)
    undo.defer(() => worker.stop())
  }
  const { web, versioned } = belfry.addresses
  const admin = new Person('admin', settings.BELFRY_ADMIN_TOKEN ?? '', { web, versioned })
  const tokenFor = async (login: string, scopes: string[]) => {
    const { token } = await expect(201, await admin.post(`/admin/users/${login}/authorizations`, { scopes }))
    return new Person(login, token, { web, versioned })
  }
  const running = undo.move()
  return {
    belfry,
    clock,
    web,
    versioned,
    logged,
    texts,
    admin,
    nobody: new Client(`${web}/api/v3`, {}),
    nobodyVersioned: new Client(versioned, {}),
    tokenFor,
    // Without HTTP: tests make five thousand people, and two requests for each took 3 % of the suite's time.
    async person(login, scopes = allScopes.filter((scope) => scope !== 'site_admin')) {
      const password_hash = hashes.get(login) ?? (await hashPassword(`${login}'s password`))
      hashes.set(login, password_hash)
      const { token } = await db.transaction(async (transaction) => {
        const email = `${login}@example.com`
        const user = await createUser(transaction, { login, email, email_verified: true, name: null, password_hash })
        return createToken(transaction, user, { note: 'Site admin impersonation', scopes, impersonation: true })
      })
      return new Person(login, token, { web, versioned })
    },
    async organization(login, owner) {
      await expect(201, await admin.post('/admin/organizations', { login, admin: owner.login }))
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Makes test functions that get what `open` opens, also as a whole by the name `forge`. It is closed after each test. */
export const injecting =
  <Opened extends AsyncDisposable>(open: () => Promise<Opened>) =>
  (run: (opened: { forge: Opened } & Opened) => Promise<unknown>) =>
  async () => {
    await using opened = await open()
    await run({ forge: opened, ...opened })
  }

/** Opens a forge with these users. */
export const withPeople =
  <Login extends string>(...logins: Login[]) =>
  async (): Promise<Forge & Record<Login, Person>> => {
    const forge = await openForge()
    const people = {} as Record<Login, Person>
    for (const login of logins) people[login] = await forge.person(login)
    return Object.assign(forge, people)
  }

/** A line for each item: its fields with a space between. `user.login` is a nested field. */
export const linesOf = (items: readonly object[], ...fields: string[]) =>
  items.map((item) => fields.map((field) => field.split('.').reduce(readField, item)).join(' '))

const readField = (value: unknown, name: string) => (value as Record<string, unknown> | undefined)?.[name]

/** What was logged at the level of errors. */
export const errorsOf = ({ logged }: Pick<Forge, 'logged'>) => logged.filter((line) => JSON.parse(line).level >= 50)
