import { parseArgs } from 'node:util'
import { listening } from '#hosting/announcements/announcements.ts'
import { openTransport, type Transport } from '#parts/webhooks/sending/transport.ts'
import type { Clock } from '#platform/clock.ts'
import { StartError } from '#platform/errors.ts'
import { checkUrl } from '#platform/outbound/check-url.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import { forward, reportBack } from './forward.ts'
import type { DeliveryMessage } from './json.ts'
import { follow } from './stream-client.ts'

export const help = `Repeats the deliveries of a webhook on this machine, with the same headers and bytes.

Usage: BELFRY_TOKEN=… npx belfry listen --hook <webhook> --forward <address>

Options:
  --hook      the webhook's address, such as http://localhost:3000/api/v3/repos/ada/engine/hooks/1, or short:
              ada/engine/1 for a repository's, acme/1 for an organization's
  --forward   where deliveries are repeated, such as http://localhost:4000/webhook
  --server    where a short --hook is [http://localhost:3000]
  --token     a token with the scope write:repo_hook (admin:org_hook for an organization's webhook).
              Others on this machine can see it there: rather set BELFRY_TOKEN.
  --help      this text

A webhook whose url is ${listening} waits for somebody who listens: what your program answers becomes the outcome of the
delivery. Deliveries of any other webhook are repeated once they were sent.`

/** Whoever runs this says where to, and it is their own machine: all but what no server has. */
const policy = readPolicy('external, private, loopback')

/** So many are under way at a time; when there are more, the stream waits. */
const most = 8

/** What was asked for. */
interface ListenOptions {
  hook: string
  forward: string
  token: string
}

type Say = (text: string) => void

/** Listens until it is ended, or until the server says that there is nothing to listen to. */
export async function listen(given: string[], environment: NodeJS.ProcessEnv, clock: Clock, say: Say, warn: Say): Promise<void> {
  const options = readOptions(given)
  if (options.help) return say(help)
  const wish = readListenOptions(options, environment)
  const transport = openTransport(policy, null)
  const underWay = new Set<Promise<void>>()
  for await (const message of follow(wish.hook, wish.token, () => say(`Listening to ${wish.hook}`), warn)) {
    const repeated = forwardDelivery(transport, wish, message, clock, say, warn).finally(() => underWay.delete(repeated))
    underWay.add(repeated)
    if (underWay.size >= most) await Promise.race(underWay)
  }
}

function readOptions(given: string[]) {
  const text = { type: 'string' } as const
  try {
    const options = { hook: text, forward: text, server: text, token: text, help: { type: 'boolean' } } as const
    return parseArgs({ args: given, options }).values
  } catch (error) {
    throw wrong((error as Error).message.split(/\.\s/)[0]?.replace(/\.$/, '') ?? '')
  }
}

function readListenOptions(options: ReturnType<typeof readOptions>, environment: NodeJS.ProcessEnv): ListenOptions {
  const {
    hook = '',
    forward: to = '',
    server = 'http://localhost:3000',
    token = environment.BELFRY_TOKEN?.trim() ?? '',
  } = options
  if (!hook) throw wrong('--hook is missing: it says which webhook')
  if (!to) throw wrong('--forward is missing: it says where deliveries are repeated')
  const checked = checkUrl(to, policy)
  if ('refused' in checked) throw wrong(`--forward is ${JSON.stringify(to)}: ${checked.refused}`)
  if (!/^[!-~]+$/.test(token)) throw wrong('There is no token: set BELFRY_TOKEN')
  return { hook: readHook(hook, server), forward: checked.url.href, token }
}

function readHook(hook: string, server: string): string {
  const [, owner, repo, id] = /^([\w.-]+)\/(?:([\w.-]+)\/)?(\d+)$/.exec(hook) ?? []
  const path = repo ? `repos/${owner}/${repo}` : `orgs/${owner}`
  const url = URL.parse(owner ? `${server.replace(/\/$/, '')}/api/v3/${path}/hooks/${id}` : hook)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || !/\/hooks\/\d+$/.test(url.pathname)) {
    throw wrong(`${owner ? '--server' : '--hook'} is ${JSON.stringify(owner ? server : hook)}: that is not the address of one`)
  }
  return `${url.origin}${url.pathname}`
}

const wrong = (message: string) => new StartError(`${message}. See npx belfry listen --help.`)

async function forwardDelivery(
  transport: Transport,
  wish: ListenOptions,
  message: DeliveryMessage,
  clock: Clock,
  say: Say,
  warn: Say,
) {
  const report = await forward(transport, wish.forward, message)
  const name = message.action ? `${message.event}.${message.action}` : message.event
  const answer = report.error ?? report.status_code
  say(`${timeOf(clock)}  ${name}  ${message.guid}  → ${answer}  ${Math.round(report.duration * 1000)} ms`)
  if (message.url !== listening) return
  const failed = await reportBack(wish.hook, wish.token, message, report)
  if (failed) warn(`What came of ${message.guid} was not recorded: ${failed}.`)
}

/** As the clock on the wall has it. */
function timeOf(clock: Clock) {
  return clock.now().toTimeString().slice(0, 8)
}
