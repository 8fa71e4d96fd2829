import type { MeasuredWorld, Sent } from './measured-world.ts'
import { encodeQuery, inAddress, inLine, inStructure, inText, type Target } from './target.ts'

const zero = '0'.repeat(40)
const one = '1'.repeat(40)
const flush = '0000'
const delimiter = '0001'

/** Cut to what a pkt-line may have. */
function line(text: string) {
  const bytes = Buffer.from(text).subarray(0, 65_516)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}
const join = (parts: (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)))

const sending =
  (service: 'git-upload-pack' | 'git-receive-pack', bodyOf: (text: string) => Buffer, protocol = '') =>
  (text: string, { place }: MeasuredWorld): Sent => ({
    method: 'POST',
    url: `${place.web}/ada/open.git/${service}`,
    headers: {
      authorization: `Basic ${btoa(`ada:${place.ada}`)}`,
      'content-type': `application/x-${service}-request`,
      ...(protocol && { 'git-protocol': protocol }),
    },
    body: bodyOf(text),
  })

const command = (ref: string, capabilities = ' report-status') => `${zero} ${one} ${ref}\0${capabilities}`
const several = (text: string, size = 60) => text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? []

/** The lines of a push before its pack. */
const pushes: [name: string, body: (text: string) => Buffer][] = [
  ['the name of a ref', (text) => join([line(command(`refs/heads/${text}`)), flush])],
  ['capabilities', (text) => join([line(command('refs/heads/x', text)), flush])],
  ['a line', (text) => join([line(text), flush])],
  ['three lines', (text) => join([line(text), line(text), line(text), flush])],
  ['many refs', (text) => join([...several(text).map((part) => line(command(`refs/heads/${part}`))), flush])],
  ['a push option', (text) => join([line(command('refs/heads/x', ' push-options')), flush, line(text), flush])],
  ['a push certificate', (text) => join([line('push-cert\0 report-status'), line(text), line('push-cert-end\n'), flush])],
  ['no line', (text) => Buffer.from(text)],
]

const fetches: [name: string, body: (text: string) => Buffer, protocol?: string][] = [
  ['want', (text) => join([line(`want ${one} ${text}\n`), flush, line('done\n')])],
  [
    'many haves',
    (text) => join([line(`want ${one}\n`), flush, ...several(text).map((part) => line(`have ${part}\n`)), line('done\n')]),
  ],
  ['no line', (text) => Buffer.from(text)],
  ['command', (text) => join([line(`command=${text}\n`), flush]), 'version=2'],
  ['ref-prefix', (text) => join([line('command=ls-refs\n'), delimiter, line(`ref-prefix ${text}\n`), flush]), 'version=2'],
  [
    'many ref-prefixes',
    (text) => join([line('command=ls-refs\n'), delimiter, ...several(text).map((part) => line(`ref-prefix ${part}\n`)), flush]),
    'version=2',
  ],
  [
    'capability',
    (text) => join([line('command=ls-refs\n'), line(`agent=${text}\n`), delimiter, line('symrefs\n'), flush]),
    'version=2',
  ],
  [
    'want-ref',
    (text) => join([line('command=fetch\n'), delimiter, line(`want-ref ${text}\n`), line('done\n'), flush]),
    'version=2',
  ],
]

const batches: [name: string, body: (text: string) => object][] = [
  ['operation', (text) => ({ operation: text, objects: [] })],
  ['oid', (text) => ({ operation: 'download', objects: [{ oid: text, size: 1 }] })],
  ['ref', (text) => ({ operation: 'upload', ref: { name: text }, objects: [{ oid: '1'.repeat(64), size: 1 }] })],
  ['transfers', (text) => ({ operation: 'upload', transfers: [text], objects: [{ oid: '1'.repeat(64), size: 1 }] })],
]

/** The commands of git and LFS as clients send them. */
export function gitTargets(): Target[] {
  const lfs =
    (bodyOf: (text: string) => string) =>
    (text: string, { place }: MeasuredWorld): Sent => ({
      method: 'POST',
      url: `${place.web}/ada/open.git/info/lfs/objects/batch`,
      headers: { authorization: `Basic ${btoa(`ada:${place.ada}`)}`, 'content-type': 'application/vnd.git-lfs+json' },
      body: bodyOf(text),
    })
  return [
    ...pushes.map(([name, body]): Target => ({ ...inLine, name: `push: ${name}`, send: sending('git-receive-pack', body) })),
    ...fetches.map(
      ([name, body, protocol]): Target => ({
        ...inLine,
        name: `fetch: ${name}`,
        send: sending('git-upload-pack', body, protocol),
      }),
    ),
    ...batches.map(
      ([name, body]): Target => ({
        ...inText(1_000_000),
        name: `LFS batch: ${name}`,
        send: lfs((text) => JSON.stringify(body(text))),
      }),
    ),
    ...['body', 'objects'].map(
      (name): Target => ({
        ...inStructure(1_000_000),
        name: `LFS batch: ${name}`,
        send: lfs((text) => (name === 'body' ? text : `{"operation":"download","objects":${text}}`)),
      }),
    ),
    {
      ...inAddress,
      name: 'info/refs: service',
      send: (text, { place }) => ({
        method: 'GET',
        url: `${place.web}/ada/open.git/info/refs?service=${encodeQuery(text, 15_000)}`,
        headers: {},
      }),
    },
  ]
}
