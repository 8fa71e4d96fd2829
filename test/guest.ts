import { loadUser } from '#identity/accounts.ts'
import { openSession } from '#identity/sessions.ts'
import { sessionCookie } from '#web/cookies.ts'
import { csrfOf } from '#web/csrf.ts'
import { isSecure } from '#web/visit.ts'
import { type Forge, openForge, Person } from './forge.ts'

/** An answer with its text read. */
export interface Shown {
  status: number
  text: string
  headers: Headers
  location: string | null
}

/** Someone with a browser that runs no scripts: keeps cookies, and sends forms with the token of the last page. */
export class Guest {
  readonly cookies = new Map<string, string>()
  csrf = ''
  readonly #web: string
  readonly #headers: Record<string, string>

  constructor({ web }: Pick<Forge, 'web'>, headers: Record<string, string> = {}) {
    this.#web = web
    this.#headers = headers
  }

  get(path: string): Promise<Shown> {
    return this.#send(path, {})
  }

  /** Opens the page that has the form, fills it in and sends it. */
  async fill(path: string, fields: Record<string, string | string[]>, action = path): Promise<Shown> {
    await this.get(path)
    return this.post(action, fields)
  }

  post(path: string, fields: Record<string, string | string[]>, headers: Record<string, string> = {}): Promise<Shown> {
    const pairs = Object.entries({ csrf: this.csrf, ...fields }).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    )
    return this.#send(path, { method: 'POST', body: new URLSearchParams(pairs), headers })
  }

  /** Sends a form with files. */
  upload(path: string, fields: [name: string, value: string | File][]): Promise<Shown> {
    const body = new FormData()
    for (const [name, value] of [['csrf', this.csrf] as const, ...fields]) body.append(name, value)
    return this.#send(path, { method: 'POST', body })
  }

  /** Sends a form and goes where the answer leads, as a browser does; what is no redirect is the answer itself. */
  async postAndFollow(path: string, fields: Record<string, string | string[]>): Promise<Shown> {
    const answer = await this.post(path, fields)
    return answer.location === null ? answer : this.get(answer.location)
  }

  async fillAndFollow(path: string, fields: Record<string, string | string[]>, action = path): Promise<Shown> {
    await this.get(path)
    return this.postAndFollow(action, fields)
  }

  async #send(path: string, init: RequestInit): Promise<Shown> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...this.#headers, ...(init.headers as Record<string, string>), ...(cookie && { cookie }) }
    const answer = await fetch(`${this.#web}${path}`, { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) this.#keep(line)
    const text = await answer.text()
    this.csrf = /name="csrf" value="(\w+)"/.exec(text)?.[1] ?? this.csrf
    return { status: answer.status, text, headers: answer.headers, location: answer.headers.get('location') }
  }

  #keep(line: string) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (/max-age=0(;|$)/i.test(line)) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }

  /** With the password that people of the forge have. */
  async signIn(login: string, password = `${login}'s password`): Promise<Shown> {
    return this.fill('/login', { login, password })
  }
}

/** A page without the link to the sign-in page, which leads back to the page's own address. */
export const withoutSignIn = (text: string) => text.replace(/href="\/login[^"]*">Sign in</, '>Sign in<')

/** Makes a personal token on its page, and returns its holder. */
export async function makeToken(
  forge: Forge,
  visitor: Guest,
  login: string,
  path: string,
  fields: Record<string, string | string[]>,
) {
  const { status, text } = await visitor.fillAndFollow(path, { note: 'x', days: '', reach: 'all', ...fields }, path.split('?')[0])
  const token = /class="secret">(bf[pf]_\w{36})</.exec(text)?.[1]
  if (!token) throw new Error(`${path} gave ${status}: ${text}`)
  return new Person(login, token, forge)
}

/** Someone who is signed in. The form would hash a password: it took 37 ms of processor time. */
export async function signedIn(forge: Forge, login: string, headers: Record<string, string> = {}): Promise<Guest> {
  const { belfry } = forge
  const guest = new Guest(forge, headers)
  const origin = { address: headers['x-forwarded-for'] ?? '127.0.0.1', user_agent: headers['user-agent'] ?? 'node' }
  const token = await belfry.db.transaction(async (db) => openSession(db, await loadUser(db, login), origin, false))
  guest.cookies.set(isSecure(belfry) ? `__Host-${sessionCookie}` : sessionCookie, token)
  guest.csrf = csrfOf(token)
  return guest
}

/** A forge where Ada is signed in at the pages. */
export async function openAsAda() {
  const forge = await openForge()
  await forge.person('ada')
  return Object.assign(forge, { ada: await signedIn(forge, 'ada') })
}
