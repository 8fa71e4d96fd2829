import { parseArgs } from 'node:util'
import { request } from 'undici'
import { listening } from '#activity/outbox/outbox.ts'
import { failureOf } from '#parts/webhooks/sending/failures.ts'
import { openTransport, type Transport } from '#parts/webhooks/sending/transport.ts'
import type { Clock } from '#platform/clock.ts'
import { codeOf } from '#platform/database.ts'
import { StartError } from '#platform/errors.ts'
import { checkUrl } from '#platform/outbound/check-url.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import type { DeliveryMessage } from './json.ts'
import type { Report } from './report.ts'
import { follow } from './stream-client.ts'

export const help = `Forwards the deliveries of a webhook to a program on this machine, with the same headers and body.

Usage: BELFRY_TOKEN=… npx belfry listen --hook <webhook> --forward <address>

Options:
  --hook      the webhook's address, such as http://localhost:3000/api/v3/repos/ada/engine/hooks/1, or short:
              ada/engine/1 for a repository's, acme/1 for an organization's
  --forward   the address to forward to, such as http://localhost:4000/webhook
  --server    the server of a short --hook [http://localhost:3000]
  --token     a token with the scope write:repo_hook (admin:org_hook for an organization's webhook).
              Other users of this machine can see it in the process list, so prefer BELFRY_TOKEN.
  --help      this text

If the webhook's url is ${listening}, the response of your program becomes the outcome of the delivery. Deliveries of any
other webhook are forwarded after they were sent.`

/** The user chooses the address on their own machine, so loopback and private addresses are allowed. */
const policy = readPolicy('external, private, loopback')

/** Concurrent requests. When all are busy, the stream is not read. */
const most = 8

interface ListenOptions {
  hook: string
  forward: string
  token: string
}

type Say = (text: string) => void

/** Runs until it is stopped, or until the server refuses. */
export async function listen(given: string[], environment: NodeJS.ProcessEnv, clock: Clock, say: Say, warn: Say): Promise<void> {
  const flags = readFlags(given)
  if (flags.help) return say(help)
  const options = readListenOptions(flags, environment)
  const transport = openTransport(policy, null)
  const running = new Set<Promise<void>>()
  for await (const message of follow(options.hook, options.token, () => say(`Listening to ${options.hook}`), warn)) {
    const repeated = forwardDelivery(transport, options, message, clock, say, warn).finally(() => running.delete(repeated))
    running.add(repeated)
    if (running.size >= most) await Promise.race(running)
  }
}

function readFlags(given: string[]) {
  const text = { type: 'string' } as const
  try {
    const options = { hook: text, forward: text, server: text, token: text, help: { type: 'boolean' } } as const
    return parseArgs({ args: given, options }).values
  } catch (error) {
    throw wrong((error as Error).message.split(/\.\s/)[0]?.replace(/\.$/, '') ?? '')
  }
}

function readListenOptions(flags: ReturnType<typeof readFlags>, environment: NodeJS.ProcessEnv): ListenOptions {
  const { hook = '', forward: to = '', server = 'http://localhost:3000', token = environment.BELFRY_TOKEN?.trim() ?? '' } = flags
  if (!hook) throw wrong('--hook is missing')
  if (!to) throw wrong('--forward is missing')
  const checked = checkUrl(to, policy)
  if ('refused' in checked) throw wrong(`--forward is ${JSON.stringify(to)}: ${checked.refused}`)
  if (!/^[!-~]+$/.test(token)) throw wrong('The token is missing: set BELFRY_TOKEN')
  return { hook: readHook(hook, server), forward: checked.url.href, token }
}

function readHook(hook: string, server: string): string {
  const [, owner, repo, id] = /^([\w.-]+)\/(?:([\w.-]+)\/)?(\d+)$/.exec(hook) ?? []
  const path = repo ? `repos/${owner}/${repo}` : `orgs/${owner}`
  const url = URL.parse(owner ? `${server.replace(/\/$/, '')}/api/v3/${path}/hooks/${id}` : hook)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || !/\/hooks\/\d+$/.test(url.pathname)) {
    throw wrong(
      `${owner ? '--server' : '--hook'} is ${JSON.stringify(owner ? server : hook)}: not the address of a ${owner ? 'server' : 'webhook'}`,
    )
  }
  return `${url.origin}${url.pathname}`
}

const wrong = (message: string) => new StartError(`${message}. See npx belfry listen --help.`)

async function forwardDelivery(
  transport: Transport,
  options: ListenOptions,
  message: DeliveryMessage,
  clock: Clock,
  say: Say,
  warn: Say,
) {
  const report = await forward(transport, options.forward, message)
  const name = message.action ? `${message.event}.${message.action}` : message.event
  const answer = report.error ?? report.status_code
  say(
    `${clock.now().toTimeString().slice(0, 8)}  ${name}  ${message.guid}  → ${answer}  ${Math.round(report.duration * 1000)} ms`,
  )
  if (message.url !== listening) return
  const failed = await reportBack(options.hook, options.token, message, report)
  if (failed) warn(`The outcome of ${message.guid} was not recorded: ${failed}.`)
}

/** Less than the 30 seconds that a delivery waits for its outcome. In milliseconds. */
const responseTimeout = 25_000
const never = new AbortController().signal

async function forward(
  transport: Transport,
  to: string,
  { headers, body }: DeliveryMessage,
): Promise<Report & { duration: number }> {
  if (body === null) return { error: 'the payload is too large to be sent', duration: 0 }
  const begun = performance.now()
  const answer = await transport
    .post(to, headers, Buffer.from(body), false, responseTimeout / 1000, never)
    .catch((error) => ({ error: failureOf(error).status.slice(0, 200) }))
  return { ...answer, duration: Math.round(performance.now() - begun) / 1000 }
}

/** Returns the reason if the report was not accepted. */
async function reportBack(hook: string, token: string, { id }: DeliveryMessage, report: Report): Promise<string | undefined> {
  try {
    const { statusCode, body } = await request(`${hook}/deliveries/${id}/outcome`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(report),
      headersTimeout: responseTimeout,
      bodyTimeout: responseTimeout,
    })
    await body.dump()
    if (statusCode === 204) return undefined
    return statusCode === 404 ? 'another client reported it first, or the time was over' : `the server responds ${statusCode}`
  } catch (error) {
    return (error as Error).message || codeOf(error) || 'the server cannot be reached'
  }
}
