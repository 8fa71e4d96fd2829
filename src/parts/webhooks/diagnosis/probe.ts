import type { LookupAddress } from 'node:dns'
import { type ClientRequest, type IncomingMessage, request, STATUS_CODES } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import { type SecureContext, connect as secure, type TLSSocket } from 'node:tls'
import { failureOf } from '#parts/webhooks/sending/failures.ts'
import { codeOf } from '#platform/database.ts'
import { bareHost, checkUrl } from '#platform/outbound/check-url.ts'
import { checkedLookup, connectPatience, ForbiddenAddress, type Resolve } from '#platform/outbound/checked-lookup.ts'
import type { Policy } from '#platform/outbound/policy.ts'

/** What is tried: the way of a delivery, one step after the other. */
export interface Probe {
  url: string
  policy: Policy
  insecure_ssl: boolean
  /** Whose certificates are trusted; asked for only when it comes to that. */
  trusted: () => SecureContext
  /** Seconds for all of it. */
  timeout: number
  headers: Record<string, string>
  body: Buffer
  /** How names are looked up, when not as the system does. */
  resolve?: Resolve
}

export const probeSteps = ['policy', 'dns', 'tcp', 'tls', 'http'] as const
type ProbeStep = (typeof probeSteps)[number]

/** How a step went: null where it was not gone. */
export interface StepResult<Step extends string> {
  step: Step
  ok: boolean | null
  message: string
  /** In seconds. */
  duration: number
}

export const skippedStep = <Step extends string>(step: Step, message = 'Not reached.'): StepResult<Step> => ({
  ...{ step, message },
  ok: null,
  duration: 0,
})

/** A step that failed; its message is for whoever may read the hook. */
class Failed extends Error {}

/** How far it has come. */
interface ProbeState {
  url: URL
  addresses: LookupAddress[]
  socket: Socket | TLSSocket | undefined
  /** Ends when the time for a connection, or for everything, is over. */
  connecting: AbortSignal
  ending: AbortSignal
}

type Go = (probe: Probe, state: ProbeState) => Promise<string | { skipped: string }>

const stepRunners: Record<ProbeStep, Go> = {
  async policy({ url, policy }, state) {
    const checked = checkUrl(url, policy)
    if ('refused' in checked) throw new Failed(`Not allowed: ${checked.refused}.`)
    state.url = checked.url
    return 'The address is one that webhooks may be sent to.'
  },

  /** Every address is checked, and the connection goes to one of these whatever is said next. */
  async dns({ policy, resolve }, state) {
    const host = bareHost(state.url.hostname)
    if (isIP(host)) return { skipped: `${host} is an address: there is nothing to look up.` }
    state.addresses = await withDeadline(
      state.connecting,
      `${host} could not be looked up in time.`,
      lookUp(policy, host, resolve),
    )
    return `${host} has ${state.addresses.map(({ address }) => address).join(', ')}.`
  },

  async tcp(_, state) {
    const { url, addresses, connecting } = state
    const host = bareHost(url.hostname)
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    const socket = connect({
      ...{ host, port, autoSelectFamily: true },
      lookup: (_, { all }, answer) => {
        const [first = { address: '', family: 0 }] = addresses
        if (all) answer(null, addresses)
        else answer(null, first.address, first.family)
      },
    })
    state.socket = socket
    await waitForOpen(socket, 'connect', connecting, 'No connection came about in time.', explainConnectError)
    return `Connected to port ${port}.`
  },

  async tls({ insecure_ssl, trusted }, state) {
    const { url, socket, connecting } = state
    if (url.protocol !== 'https:') return { skipped: 'The address is not https: nothing is encrypted.' }
    const host = bareHost(url.hostname)
    const secured = secure({
      ...{ socket, host, ...(!isIP(host) && { servername: host }) },
      ALPNProtocols: ['http/1.1'],
      ...{ secureContext: trusted(), rejectUnauthorized: !insecure_ssl },
    })
    state.socket = secured
    await waitForOpen(secured, 'secureConnect', connecting, 'The TLS handshake did not end in time.', explainTlsError)
    const certificate = insecure_ssl
      ? `the certificate is not checked, since insecure_ssl is 1${certificateProblem(secured)}`
      : `the certificate is trusted until ${secured.getPeerCertificate().valid_to}`
    return `${secured.getProtocol()}; ${certificate}.`
  },

  async http({ headers, body, timeout }, state) {
    const { url, socket, ending } = state
    const sent = request({
      ...{ method: 'POST', path: url.pathname + url.search, signal: ending, maxHeaderSize: 32 * 1024 },
      headers: { Host: url.host, Connection: 'close', ...headers, 'Content-Length': body.length },
      createConnection: () => socket as Socket,
    })
    const status = await readStatus(sent, body).catch((error) => {
      throw new Failed(ending.aborted ? `No answer within ${timeout} s.` : `${upperFirst(failureOf(error).status)}.`)
    })
    const told = `Answered ${status} ${STATUS_CODES[status] ?? ''}`.trim()
    if (status >= 300 && status < 400) throw new Failed(`${told}: redirects are not followed.`)
    if (status < 200 || status >= 300) throw new Failed(`${told}: a delivery succeeds with 200 to 299.`)
    return `${told}.`
  },
}

/** Goes step by step until one fails. The connection is closed whatever happens. */
export async function runProbe(probe: Probe): Promise<StepResult<ProbeStep>[]> {
  const ending = AbortSignal.timeout(probe.timeout * 1000)
  const connecting = AbortSignal.any([ending, AbortSignal.timeout(connectPatience)])
  const state: ProbeState = { url: new URL('http://0.0.0.0'), addresses: [], socket: undefined, connecting, ending }
  const gone: StepResult<ProbeStep>[] = []
  try {
    for (const step of probeSteps) {
      const stopped = gone.some(({ ok }) => ok === false)
      gone.push(stopped ? skippedStep(step) : await runStep(step, probe, state))
    }
  } finally {
    state.socket?.destroy()
  }
  return gone
}

async function runStep(step: ProbeStep, probe: Probe, state: ProbeState): Promise<StepResult<ProbeStep>> {
  const begun = performance.now()
  const since = () => Math.round(performance.now() - begun) / 1000
  try {
    const message = await stepRunners[step](probe, state)
    return typeof message === 'string' ? { step, ok: true, message, duration: since() } : skippedStep(step, message.skipped)
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    return { step, ok: false, message: error.message.slice(0, 500), duration: since() }
  }
}

function lookUp(policy: Policy, host: string, resolve?: Resolve): Promise<LookupAddress[]> {
  return new Promise((found, reject) => {
    checkedLookup(policy, resolve)(host, { all: true }, (error, addresses) => {
      if (!error) found(addresses as LookupAddress[])
      // Of an address that is forbidden nothing is told but the rule.
      else if (error instanceof ForbiddenAddress) reject(new Failed(`Not allowed: ${error.message}.`))
      else if (codeOf(error) === 'EAI_AGAIN') reject(new Failed(`${host} cannot be looked up at the moment.`))
      else reject(new Failed(`${host} has no address.`))
    })
  })
}

function withDeadline<T>(signal: AbortSignal, late: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new Failed(late))
    if (signal.aborted) end()
    signal.addEventListener('abort', end)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

function waitForOpen(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
  late: string,
  explain: (error: unknown) => string,
): Promise<void> {
  const open = new Promise<void>((resolve, reject) => {
    // An error that comes later, while nobody asks, must not end the process: the listener stays.
    socket.on('error', (error) => reject(new Failed(explain(error))))
    socket.once('close', () => reject(new Failed(explain(new Error('closed')))))
    socket.once(event, () => resolve())
  })
  return withDeadline(signal, late, open)
}

function explainConnectError(error: unknown) {
  const code = codeOf(error) ?? ''
  if (code === 'ECONNREFUSED') return 'The connection was refused: nothing listens there.'
  if (code === 'ETIMEDOUT') return 'No connection came about in time.'
  return `There is no way to that address (${code || 'closed'}).`
}

function explainTlsError(error: unknown) {
  const { status } = failureOf(error)
  if (status.startsWith('Peer certificate')) return `${status}.`
  const { reason } = error as { reason?: string }
  return `The TLS handshake failed${reason ? `: ${reason}` : ''}.`
}

/** OpenSSL's word for what is wrong is not an error here, whatever its type says. */
function certificateProblem({ authorized, authorizationError }: TLSSocket) {
  return authorized ? '' : `; it would be refused (${authorizationError})`
}

/** The status of an answer that has come to its end, or is longer than what would be kept of it. */
function readStatus(sent: ClientRequest, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    sent.once('response', (answer) => {
      // From here on the answer itself tells when it breaks off.
      sent.off('close', closed).off('error', reject)
      drain(answer).then(() => resolve(answer.statusCode ?? 0), reject)
    })
    sent
      .on('error', () => {})
      .once('error', reject)
      .once('close', closed)
    sent.end(body)
  })
}

async function drain(answer: IncomingMessage) {
  let size = 0
  for await (const chunk of answer) {
    size += chunk.length
    if (size > 64 * 1024) return
  }
}

const upperFirst = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
