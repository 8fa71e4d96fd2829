import { type Answer, Skip } from './answer.ts'
import type { Client, Request } from './client.ts'
import { type Button, type Form, formsOf } from './forms.ts'

/** Where a request for authorization led. */
export interface Authorized {
  /** The last response of the server. */
  answer: Answer
  /** Whether the user was asked before. */
  asked: boolean
  /** The address outside of the server that it redirects to. */
  to: URL | undefined
}

const mostRedirects = 10
const agreement = /^(authori[sz]e|allow|approve|accept|grant|continue|yes)\b/i

/** A user at the pages of the server, with a browser that runs no scripts. */
export class Visitor {
  readonly #client: Client
  readonly #web: string
  readonly #cookies = new Map<string, string>()
  #isGiven = false

  /** `client` has no credentials: the pages know the user by cookies. */
  constructor(client: Client, web: string) {
    this.#client = client
    this.#web = web
  }

  /** Uses the cookies of a session that exists, as the header `Cookie` writes them. */
  resume(cookies: string) {
    this.#isGiven = true
    for (const pair of cookies.split(/;\s*/)) this.#keep(pair)
  }

  async signIn(login: string, password: string) {
    const page = await this.open('/login')
    const form = formsOf(page).find((one) => one.login && one.password)
    if (!form?.login || !form.password)
      throw new Skip(`${this.#web}/login has no form with a login and a password: give --session instead.`)
    const next = await this.submit(page, form, undefined, { [form.login]: login, [form.password]: password })
    if (next.status >= 400 || formsOf(next).some((one) => one.password))
      throw new Skip(`${this.#web}/login did not accept the login ${login} with the password of --password.`)
  }

  /** Ends a session that this visitor began. */
  async signOut() {
    if (this.#isGiven) return
    const page = await this.open('/')
    const form = formsOf(page).find(({ action }) => /log-?out|sign-?out/i.test(action))
    if (form) await this.submit(page, form)
  }

  /** Follows redirects within the server. A response that leads elsewhere is returned as it is. */
  open = (path: string): Promise<Answer> => this.#follow('GET', new URL(path, `${this.#web}/`).href)

  submit(page: Answer, { action, fields }: Form, button?: Button, typed: Record<string, string> = {}): Promise<Answer> {
    const body = new URLSearchParams(fields)
    for (const [name, value] of Object.entries(typed)) body.set(name, value)
    if (button?.name) body.append(button.name, button.value)
    return this.#follow('POST', action, body, page.exchange.url)
  }

  /** Asks for authorization as an application does, and agrees if the page asks. */
  async authorize(parameters: Record<string, string>): Promise<Authorized> {
    const page = await this.open(`/login/oauth/authorize?${new URLSearchParams(parameters)}`)
    if (formsOf(page).some(({ password }) => password) || /\/(two-factor|otp|mfa)\b/.test(page.exchange.url))
      throw new Skip(
        'The pages of the server ask for more than the login and the password, or do not know the session: give --session.',
      )
    const to = this.leadsTo(page)
    const choice = formsOf(page).flatMap((form) =>
      form.buttons.filter(({ label }) => agreement.test(label)).map((button) => ({ form, button })),
    )[0]
    if (to || !choice) return { answer: page, asked: false, to }
    const answer = await this.submit(page, choice.form, choice.button)
    return { answer, asked: true, to: this.leadsTo(answer) }
  }

  /** The address outside of the server that a response redirects to. */
  leadsTo({ status, headers, exchange }: Answer): URL | undefined {
    const location = headers.get('location')
    const to = status >= 300 && status < 400 && location !== null ? new URL(location, exchange.url) : undefined
    return to && to.origin !== new URL(this.#web).origin ? to : undefined
  }

  async #follow(method: string, url: string, body?: URLSearchParams, referer?: string): Promise<Answer> {
    // Servers compare these with their own address to refuse forms of other sites.
    const from = body ? { origin: new URL(this.#web).origin, referer: referer ?? this.#web } : {}
    let answer = await this.#send(method, url, body ? { headers: from, body } : {})
    for (let count = 0; count < mostRedirects; count++) {
      const location = answer.headers.get('location')
      if (answer.status < 300 || answer.status >= 400 || location === null || this.leadsTo(answer)) return answer
      answer = await this.#send('GET', new URL(location, answer.exchange.url).href)
    }
    return answer.fail('a page', `more than ${mostRedirects} redirects`)
  }

  async #send(method: string, url: string, request: Request = {}): Promise<Answer> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', ...(cookie && { cookie }), ...request.headers }
    const answer = await this.#client.send(method, url, { ...request, headers })
    for (const line of answer.headers.getSetCookie()) this.#keep(line)
    return answer
  }

  #keep(line: string) {
    const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(line.trimStart()) ?? []
    if (/max-age=0(;|$)/i.test(line) || value === '') this.#cookies.delete(name)
    else if (name) this.#cookies.set(name, value)
  }
}
