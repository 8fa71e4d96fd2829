import { at, Mismatch } from './answer.ts'
import { Client } from './client.ts'
import { Failure } from './failure.ts'

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
  timeout: number
}

/** The server that is checked, and who calls it. */
export interface Target extends Omit<TargetOptions, 'url' | 'other_token' | 'variant'> {
  base: string
  /** The web root, `{auth_url}` of the specification. */
  web: string
  variant: VariantName
  login: string
  other: { login: string; token: string } | undefined
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Finds the API below an address and who its callers are. */
export async function findTarget(options: TargetOptions, signal: AbortSignal): Promise<Target> {
  const { url: _, other_token, variant: __, ...kept } = options
  const { token, timeout } = options
  const found = await findBase(options, signal)
  const ask = async (credential: string, option: string) => {
    const client = new Client({ base: found.base, timeout, signal }, bearer(credential))
    const answer = await client.get('/user')
    if (answer.status === 401) throw new Failure(`The server does not accept the token of ${option}. Create a new one.`)
    const login = answer.status === 200 ? at(answer.json(), 'login') : undefined
    if (typeof login !== 'string')
      throw new Failure(`GET ${found.base}/user gave status ${answer.status} for the token of ${option}.`)
    return { login, html_url: at(answer.json(), 'html_url') }
  }
  const me = await ask(token, '--token')
  const other = other_token === undefined ? undefined : { ...(await ask(other_token, '--other-token')), token: other_token }
  if (other?.login === me.login) throw new Failure('--token and --other-token belong to the same user. Give tokens of two users.')
  const web = found.variant === 'self-hosted' ? found.base.replace(/\/api\/v3$/, '') : new URL(`${me.html_url}`).origin
  return { ...kept, ...found, web, login: me.login, other }
}

/** An address that ends in `/api/v3`, or has an API there, is of the self-hosted variant. */
async function findBase(
  { url, variant, timeout }: TargetOptions,
  signal: AbortSignal,
): Promise<Pick<Target, 'base' | 'variant'>> {
  const root = url.replace(/\/+$/, '')
  const prefixed = root.endsWith('/api/v3') ? root : `${root}/api/v3`
  if (prefixed === root || variant === 'self-hosted') return { base: prefixed, variant: variant ?? 'self-hosted' }
  if (variant === 'versioned') return { base: root, variant }
  const serves = async (base: string) => {
    try {
      // Both answers are JSON and come from an API; a page of a web site is neither.
      const answer = await new Client({ base, timeout, signal }, {}).get('/user')
      return answer.status === 401 && /json/.test(answer.headers.get('content-type') ?? '')
    } catch (error) {
      if (error instanceof Mismatch) throw new Failure(`${url} cannot be reached: ${error.got.replace(/^none: /, '')}.`)
      throw error
    }
  }
  if (await serves(prefixed)) return { base: prefixed, variant: 'self-hosted' }
  if (await serves(root)) return { base: root, variant: 'versioned' }
  throw new Failure(
    `There is no API at ${prefixed} or ${root}: neither answers GET /user with 401 and JSON. Give --variant to check it anyway.`,
  )
}
