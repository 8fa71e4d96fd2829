import { loadUser } from '#identity/accounts.ts'
import { openSession } from '#identity/sessions.ts'
import { expect, type Forge, openForge } from './forge.ts'

/** Someone at the pages, signed in, without a browser: requests and redirects one by one. */
export class Visitor {
  readonly #forge: Forge
  readonly cookie: string

  constructor(forge: Forge, cookie: string) {
    this.#forge = forge
    this.cookie = cookie
  }

  get(path: string) {
    return fetch(this.#at(path), { headers: { cookie: this.cookie }, redirect: 'manual' })
  }

  /** Opens a page and sends its form back, with these fields besides. */
  async fill(path: string, fields: Record<string, string>, at = path) {
    const page = await (await this.get(at)).text()
    const csrf = /name="csrf" value="(\w+)"/.exec(page)?.[1] ?? ''
    return this.post(path, { csrf, ...fields })
  }

  /** The same, going where the answer leads, as a browser does. */
  async fillAndFollow(path: string, fields: Record<string, string>) {
    const answer = await this.fill(path, fields)
    return answer.status === 303 ? this.get(target(answer).href) : answer
  }

  post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    const body = new URLSearchParams(fields)
    return fetch(this.#at(path), { method: 'POST', headers: { cookie: this.cookie, ...headers }, body, redirect: 'manual' })
  }

  #at(path: string) {
    return path.startsWith('http') ? path : `${this.#forge.web}${path}`
  }
}

export async function signIn(forge: Forge, login: string): Promise<Visitor> {
  const origin = { address: '127.0.0.1', user_agent: 'test' }
  const token = await forge.belfry.db.transaction(async (db) => openSession(db, await loadUser(db, login), origin, false))
  return new Visitor(forge, `belfry_session=${token}`)
}

export interface Registered {
  client_id: string
  client_secret: string
}

export function register(forge: Forge, more: Record<string, unknown> = {}): Promise<Registered> {
  const wanted = {
    name: 'Weather',
    url: 'https://weather.example',
    callback_url: 'https://weather.example/back',
    owner: 'admin',
    ...more,
  }
  return forge.admin.post('/admin/applications', wanted).then((answer) => expect(201, answer))
}

export const authorizePath = (parameters: Record<string, string>) => `/login/oauth/authorize?${new URLSearchParams(parameters)}`

/** Where an answer leads, which must be somewhere. */
export function target(answer: Response): URL {
  const location = answer.headers.get('location')
  if (answer.status !== 303 || !location) throw new Error(`${answer.url} gave ${answer.status}, and leads nowhere`)
  return new URL(location, answer.url)
}

/** The code that a consent gives. */
export async function consent(visitor: Visitor, parameters: Record<string, string>): Promise<string> {
  const path = authorizePath(parameters)
  const first = await visitor.get(path)
  const answer = first.status === 303 ? first : await visitor.fill(path, { decision: 'authorize' })
  const code = target(answer).searchParams.get('code')
  if (code === null) throw new Error(`no code: ${answer.headers.get('location')}`)
  return code
}

/** Asks the token endpoint, for JSON. */
// biome-ignore lint/suspicious/noExplicitAny: the assertions are its type.
export async function ask(forge: Forge, parameters: Record<string, string>, path = '/login/oauth/access_token'): Promise<any> {
  const body = new URLSearchParams(parameters)
  return expect(200, await fetch(`${forge.web}${path}`, { method: 'POST', headers: { accept: 'application/json' }, body }))
}

/** A forge where ada is signed in at the pages, and an application waits for her. */
export async function openWeather() {
  const forge = await openForge()
  await forge.person('ada')
  const app = await register(forge)
  const ada = await signIn(forge, 'ada')
  return { forge, app, ada, client_id: app.client_id, [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose]() }
}
