import type { LookupAddress } from 'node:dns'
import { type ClientRequest, type IncomingMessage, request, STATUS_CODES } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import { type SecureContext, connect as secure, type TLSSocket } from 'node:tls'
import { failureOf } from '#parts/webhooks/sending/failures.ts'
import { codeOf } from '#platform/database.ts'
import { bareHost, checkUrl } from '#platform/outbound/check-url.ts'
import { checkedLookup, connectPatience, ForbiddenAddress, type Resolve } from '#platform/outbound/checked-lookup.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import { sentence } from '#web/fields.ts'

/** The request to try, one step after the other. */
export interface Probe {
  url: string
  policy: Policy
  insecure_ssl: boolean
  /** The trusted certificates, loaded only for https. */
  trusted: () => SecureContext
  /** For all steps, in seconds. */
  timeout: number
  headers: Record<string, string>
  body: Buffer
  /** Replaces the system's DNS lookup in tests. */
  resolve?: Resolve
}

export const probeSteps = ['policy', 'dns', 'tcp', 'tls', 'http'] as const
type ProbeStep = (typeof probeSteps)[number]

/** `ok` is null for a step that was skipped. */
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

/** A failed step. Everyone who may read the hook sees the message. */
class StepFailure extends Error {}

interface ProbeState {
  url: URL
  addresses: LookupAddress[]
  socket: Socket | TLSSocket | undefined
  /** Aborted at the time limit for connecting, and for all steps. */
  connecting: AbortSignal
  ending: AbortSignal
}

type Go = (probe: Probe, state: ProbeState) => Promise<string | { skipped: string }>

const stepRunners: Record<ProbeStep, Go> = {
  async policy({ url, policy }, state) {
    const checked = checkUrl(url, policy)
    if ('refused' in checked) throw new StepFailure(`Not allowed: ${checked.refused}.`)
    state.url = checked.url
    return 'Webhooks may be sent to this address.'
  },

  /** Checks all addresses, and connects to one of them even if DNS changes its answer meanwhile. */
  async dns({ policy, resolve }, state) {
    const host = bareHost(state.url.hostname)
    if (isIP(host)) return { skipped: `${host} is an IP address, so no DNS lookup is needed.` }
    state.addresses = await withDeadline(state.connecting, `The DNS lookup of ${host} timed out.`, lookUp(policy, host, resolve))
    return `${host} resolves to ${state.addresses.map(({ address }) => address).join(', ')}.`
  },

  async tcp(_, state) {
    const { url, addresses, connecting } = state
    const host = bareHost(url.hostname)
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    const socket = connect({
      ...{ host, port, autoSelectFamily: true },
      lookup: (_, { all }, done) => {
        const [first = { address: '', family: 0 }] = addresses
        if (all) done(null, addresses)
        else done(null, first.address, first.family)
      },
    })
    state.socket = socket
    await waitForOpen(socket, 'connect', connecting, 'The connection timed out.', explainConnectError)
    return `Connected to port ${port}.`
  },

  async tls({ insecure_ssl, trusted }, state) {
    const { url, socket, connecting } = state
    if (url.protocol !== 'https:') return { skipped: 'The url is not https, so nothing is encrypted.' }
    const host = bareHost(url.hostname)
    const secured = secure({
      ...{ socket, host, ...(!isIP(host) && { servername: host }) },
      ALPNProtocols: ['http/1.1'],
      ...{ secureContext: trusted(), rejectUnauthorized: !insecure_ssl },
    })
    state.socket = secured
    await waitForOpen(secured, 'secureConnect', connecting, 'The TLS handshake timed out.', explainTlsError)
    const certificate = insecure_ssl
      ? `the certificate is not checked, because insecure_ssl is 1${certificateProblem(secured)}`
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
      throw new StepFailure(ending.aborted ? `No response within ${timeout} s.` : sentence(failureOf(error).status))
    })
    const response = `Response: ${status} ${STATUS_CODES[status] ?? ''}`.trim()
    if (status >= 300 && status < 400) throw new StepFailure(`${response}: redirects are not followed.`)
    if (status < 200 || status >= 300) throw new StepFailure(`${response}: a delivery succeeds with 200 to 299.`)
    return `${response}.`
  },
}

/** Runs the steps until one fails, and always closes the connection. */
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
    if (!(error instanceof StepFailure)) throw error
    return { step, ok: false, message: error.message.slice(0, 500), duration: since() }
  }
}

function lookUp(policy: Policy, host: string, resolve?: Resolve): Promise<LookupAddress[]> {
  return new Promise((found, reject) => {
    checkedLookup(policy, resolve)(host, { all: true }, (error, addresses) => {
      if (!error) found(addresses as LookupAddress[])
      // A forbidden address itself is not shown, only the rule.
      else if (error instanceof ForbiddenAddress) reject(new StepFailure(`Not allowed: ${error.message}.`))
      else if (codeOf(error) === 'EAI_AGAIN') reject(new StepFailure(`The DNS lookup of ${host} failed temporarily.`))
      else reject(new StepFailure(`${host} has no address.`))
    })
  })
}

function withDeadline<T>(signal: AbortSignal, message: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new StepFailure(message))
    if (signal.aborted) end()
    signal.addEventListener('abort', end)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

function waitForOpen(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
  message: string,
  explain: (error: unknown) => string,
): Promise<void> {
  const open = new Promise<void>((resolve, reject) => {
    // The listener stays, because a later error without one would end the process.
    socket.on('error', (error) => reject(new StepFailure(explain(error))))
    socket.once('close', () => reject(new StepFailure(explain(new Error('closed')))))
    socket.once(event, () => resolve())
  })
  return withDeadline(signal, message, open)
}

function explainConnectError(error: unknown) {
  const code = codeOf(error) ?? ''
  if (code === 'ECONNREFUSED') return 'The connection was refused, because no program listens on this port.'
  if (code === 'ETIMEDOUT') return 'The connection timed out.'
  return `The address is not reachable (${code || 'closed'}).`
}

function explainTlsError(error: unknown) {
  const { status } = failureOf(error)
  if (status.startsWith('Peer certificate')) return `${status}.`
  const { reason } = error as { reason?: string }
  return `The TLS handshake failed${reason ? `: ${reason}` : ''}.`
}

/** `authorizationError` is OpenSSL's code, a string, although its type says Error. */
function certificateProblem({ authorized, authorizationError }: TLSSocket) {
  return authorized ? '' : `; it would be refused (${authorizationError})`
}

/** The status of a response, after its body ended or exceeded what a delivery would store. */
function readStatus(sent: ClientRequest, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    sent.once('response', (response) => {
      // From here on, errors are reported on the response.
      sent.off('close', closed).off('error', reject)
      drain(response).then(() => resolve(response.statusCode ?? 0), reject)
    })
    sent
      .on('error', () => {})
      .once('error', reject)
      .once('close', closed)
    sent.end(body)
  })
}

async function drain(response: IncomingMessage) {
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    if (size > 64 * 1024) return
  }
}
