import { isUtf8 } from 'node:buffer'
import { broken } from './changegroup.ts'

/** The text of a changeset without its list of files, which manifests have too. */
export interface Changeset {
  manifest: Buffer
  user: string
  /** Seconds since 1970, and the offset of the time zone in seconds west of UTC. */
  time: number
  west: number
  branch: string
  closes: boolean
  message: Buffer
}

export function parseChangeset(text: Buffer): Changeset {
  const end = text.indexOf('\n\n')
  const user = text.indexOf(10) + 1
  const date = text.indexOf(10, user) + 1
  const files = text.indexOf(10, date)
  if (end < 0 || user !== 41 || date === 0 || files < 0) throw broken()
  const [, time, west, rest = ''] = /^([^ ]*) ?([^ ]*) ?(.*)$/s.exec(text.toString('latin1', date, files)) ?? []
  const extra = parseExtra(rest)
  return {
    manifest: Buffer.from(text.toString('latin1', 0, 40), 'hex'),
    user: decode(text.subarray(user, date - 1)),
    time: Math.trunc(Number(time)) || 0,
    west: Math.trunc(Number(west)) || 0,
    branch: extra.has('branch') ? decode(Buffer.from(extra.get('branch') ?? '', 'latin1')) : 'default',
    closes: extra.get('close') === '1',
    message: text.subarray(end + 2),
  }
}

const nothing = new Map<string, string>()

function parseExtra(text: string): ReadonlyMap<string, string> {
  if (text === '') return nothing
  const pairs = text.split('\0').filter((pair) => pair.includes(':'))
  return new Map(
    pairs.map((pair) => {
      const plain = pair.replace(/\\([\\nr0])/g, (_, sign: string) => ({ '\\': '\\', n: '\n', r: '\r' })[sign] ?? '\0')
      return [plain.slice(0, plain.indexOf(':')), plain.slice(plain.indexOf(':') + 1)]
    }),
  )
}

/** Mercurial writes UTF-8 and reads other bytes as Latin-1. */
export function decode(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
}
