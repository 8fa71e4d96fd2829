import { trimTrailing } from '#platform/trim.ts'
import { type Answer, at, Mismatch } from './answer.ts'
import { Client, isLoopback } from './client.ts'
import { Failure } from './failure.ts'
import { Liveness } from './liveness.ts'

export type VariantName = 'self-hosted' | 'versioned'

/** What the command line says about a server. */
export interface TargetOptions {
  url: string
  token: string
  other_token: string | undefined
  password: string | undefined
  /** An OAuth application of the server. */
  application: { client_id: string; client_secret: string } | undefined
  /** The id of another application, whose callback is a localhost address. */
  local_client_id: string | undefined
  /** The cookies of a session at the pages of the server. */
  session: string | undefined
  variant: VariantName | undefined
  /** The web root, if the server is not to say it. */
  web: string | undefined
  timeout: number
}

/** The server that is checked, and who calls it. */
export interface Target extends Omit<TargetOptions, 'url' | 'other_token' | 'variant' | 'web'> {
  base: string
  /** The web root, `{auth_url}` of the specification. */
  web: string
  variant: VariantName
  login: string
  other: { login: string; token: string } | undefined
}

type Ask = (base: string, token: string) => Promise<Answer>

/** Finds the API below an address and who its callers are. */
export async function findTarget(options: TargetOptions, signal: AbortSignal): Promise<Target> {
  const { url, other_token, variant: _, ...kept } = options
  const { token, timeout } = options
  const ask: Ask = async (base, credential) => {
    const wiring = { base, web: base, timeout, signal, liveness: new Liveness() }
    try {
      return await new Client(wiring, { authorization: `Bearer ${credential}` }).get('/user')
    } catch (error) {
      if (signal.aborted) throw new Failure('The run was interrupted before the first check.')
      if (error instanceof Mismatch) throw new Failure(describeUnreachable(url, error.got))
      throw error
    }
  }
  const found = await findBase(options, ask)
  const identify = async (credential: string, option: string) => {
    const answer = await ask(found.base, credential)
    if (answer.status === 401) throw new Failure(`The server does not accept the token of ${option}. Create a new one.`)
    const login = loginOf(answer)
    if (login === undefined) throw new Failure(`${describeAnswer(answer)} for the token of ${option}, but no user.`)
    expectScopes(answer, option)
    return { login, html_url: at(answer.json(), 'html_url') }
  }
  const me = await identify(token, '--token')
  const other = other_token === undefined ? undefined : { ...(await identify(other_token, '--other-token')), token: other_token }
  if (other?.login === me.login) throw new Failure('--token and --other-token belong to the same user. Give tokens of two users.')
  return { ...kept, ...found, web: options.web ?? findWeb(found, me.html_url), login: me.login, other }
}

/** An address that ends in `/api/v3`, or has an API there, is of the self-hosted variant. */
async function findBase({ url, token, variant }: TargetOptions, ask: Ask): Promise<Pick<Target, 'base' | 'variant'>> {
  const root = trimTrailing(url, '/')
  const prefixed = root.endsWith('/api/v3') ? root : `${root}/api/v3`
  if (prefixed === root || variant === 'self-hosted') return { base: prefixed, variant: variant ?? 'self-hosted' }
  if (variant === 'versioned') return { base: root, variant }
  const answers: Answer[] = []
  for (const found of [{ base: prefixed, variant: 'self-hosted' } as const, { base: root, variant: 'versioned' } as const]) {
    const answer = await ask(found.base, token)
    const isJson = /json/.test(answer.headers.get('content-type') ?? '')
    // A page of a web site is neither.
    if (isJson && (answer.status === 401 || loginOf(answer) !== undefined)) return found
    answers.push(answer)
  }
  throw new Failure(
    `There is no API at ${url}: ${answers.map(describeAnswer).join(', and ')}. Expected a user or status 401, as JSON. Give the address of the API.`,
  )
}

function loginOf(answer: Answer): string | undefined {
  if (answer.status !== 200) return undefined
  try {
    const login = at(answer.json(), 'login')
    return typeof login === 'string' ? login : undefined
  } catch {
    return undefined
  }
}

const describeAnswer = ({ exchange, status, headers }: Answer) =>
  `GET ${exchange.url} gave status ${status} (${headers.get('content-type') ?? 'no content-type'})`

function describeUnreachable(url: string, got: string) {
  const reason = got.replace(/^none: /, '').replace(/^none /, 'no response ')
  const advice = /certificate/.test(reason) ? ' Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority.' : ''
  return `${url} cannot be reached: ${reason}.${advice}`
}

/** Without them, most checks could not be made, or would leave their repositories behind. Servers without scopes do not send the header. */
function expectScopes(answer: Answer, option: string) {
  const scopes = answer.headers.get('x-oauth-scopes')?.split(/,\s*/)
  const missing = ['repo', 'delete_repo'].filter((scope) => scopes && !scopes.includes(scope))
  if (missing.length > 0)
    throw new Failure(`The token of ${option} lacks the scope ${missing.join(' and ')}. It has: ${scopes?.join(', ') || 'none'}.`)
}

/** A server on this machine that names a web site elsewhere has copied its links, and is its own web root. */
function findWeb({ base, variant }: Pick<Target, 'base' | 'variant'>, html_url: unknown): string {
  const api = new URL(base)
  if (variant === 'self-hosted') return base.replace(/\/api\/v3$/, '')
  const page = typeof html_url === 'string' && URL.canParse(html_url) ? new URL(html_url) : api
  return isLoopback(api) && !isLoopback(page) ? api.origin : page.origin
}
