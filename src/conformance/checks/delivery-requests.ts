import { createHmac } from 'node:crypto'
import { type Answer, Mismatch, type Row } from '../answer.ts'
import type { Received } from '../receiver.ts'
import { pinged, recorded } from './pinged-hook.ts'
import { webhooks } from './webhooks.ts'

const hooks = '/repos/{owner}/{repo}/hooks/{hook_id}'
const expectHeader = ({ ping, received }: { ping: Answer; received: Received }, name: string, pattern: RegExp) => {
  const value = received.headers[name] ?? `none: there are ${Object.keys(received.headers).join(', ')}`
  ping.must(pattern.test(value), `the header ${name} of the delivery to match ${pattern}`, value)
}

webhooks.check(
  'hooks.ping',
  `POST ${hooks}/pings`,
  [
    '204; 404. Triggers a ping event to the hook.',
    'sends a ping event',
    'A test or ping request produces a delivery.',
    'A webhook receives an HTTP POST per matching event.',
  ],
  async (context) => {
    const { received, path } = await pinged(context)
    if (received.method !== 'POST') throw new Mismatch('a POST request', received.method)
    await recorded(context, path, 'the event ping', (one) => one.event === 'ping')
  },
)

export const deliveryHeaders: [name: string, words: string, pattern: (made: { row: Row }, repo: Row) => RegExp][] = [
  ['x-service-delivery', 'X-Service-Delivery | unique delivery id (guid)', () => /^[0-9a-f-]{36}$/i],
  ['x-service-hook-id', 'X-Service-Hook-ID | hook id', ({ row }) => new RegExp(`^${row.id}$`)],
  ['x-service-event', 'X-Service-Event | event kind', () => /^ping$/],
  [
    'x-service-hook-installation-target-id',
    'X-Service-Hook-Installation-Target-ID | id of the target',
    (_, repo) => new RegExp(`^${repo.id}$`),
  ],
  [
    'x-service-hook-installation-target-type',
    'X-Service-Hook-Installation-Target-Type | type of the target (for example repository)',
    () => /^repository$/i,
  ],
  ['content-type', 'content-type | json or form, per config.content_type', () => /^application\/json/],
  ['user-agent', 'User-Agent | identifies the delivery agent', () => /\w/],
  ['accept', 'Accept | any', () => /\*\/\*/],
]
for (const [name, words, pattern] of deliveryHeaders)
  webhooks.check(`deliveries.header.${name}`, `POST ${hooks}/pings`, [words], async (context) => {
    const made = await context.workspace.once('pinged hook', () => pinged(context, { events: ['issues'] }))
    expectHeader(made, name, pattern(made, (await context.workspace.hookRepo()).row))
  })

const signature = (algorithm: string, secret: string, body: string) =>
  `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`
for (const [name, algorithm] of [
  ['X-Hub-Signature-256', 'sha256'],
  ['X-Hub-Signature', 'sha1'],
] as const)
  webhooks.check(
    `deliveries.header.${name.toLowerCase()}`,
    `POST ${hooks}/pings`,
    [
      `${name} | ${algorithm}= followed by the HMAC hex digest`,
      'The signature headers are present when a secret is configured.',
      'secret string (key for the HMAC hex digest of the signature headers)',
    ],
    async (context) => {
      const secret = context.workspace.name('secret')
      const { received } = await pinged(context, { config: { secret } })
      const expected = signature(algorithm, secret, received.body)
      const got = received.headers[name.toLowerCase()] ?? 'none'
      if (got !== expected) throw new Mismatch(`${name} ${expected}`, got)
    },
  )

webhooks.check(
  'deliveries.unsigned',
  `POST ${hooks}/pings`,
  ['The signature headers are present when a secret is configured.'],
  async (context) => {
    const { received } = await pinged(context)
    for (const name of ['x-hub-signature-256', 'x-hub-signature'])
      if (received.headers[name]) throw new Mismatch(`no ${name} without a secret`, received.headers[name])
  },
)

webhooks.check(
  'deliveries.form',
  `POST ${hooks}/pings`,
  ['content-type | json or form, per config.content_type'],
  async (context) => {
    const made = await pinged(context, { config: { content_type: 'form' } })
    const { received } = made
    expectHeader(made, 'content-type', /^application\/x-www-form-urlencoded/)
    const payload = new URLSearchParams(received.body).get('payload')
    if (!payload?.startsWith('{')) throw new Mismatch('a field payload with JSON', received.body.slice(0, 200))
  },
)
