import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { connectionsTo } from './database-servers.ts'
import { parseIsoDate } from './iso-date.ts'

/** How the text of a setting becomes a value. `allowed` completes the sentence "it must be …". */
export interface Format<T> {
  allowed: string
  /** Returns undefined when the text is not allowed. */
  read(text: string): T | undefined
}

/** An empty text is null. */
export function optional<T>({ allowed, read }: Format<T>): Format<T | null> {
  return { allowed, read: (text) => (text === '' ? null : read(text)) }
}

export function oneOf<const Word extends string>(...words: Word[]): Format<Word> {
  return { allowed: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`, read: (text) => words.find((word) => word === text) }
}

export function listOf<const Word extends string>(...words: Word[]): Format<Word[]> {
  const isWord = (text: string): text is Word => words.some((word) => word === text)
  return {
    allowed: `one or more of ${words.join(', ')}, separated by commas`,
    read: (text) => {
      const listed = text.split(',').map((entry) => entry.trim())
      return listed.every(isWord) ? listed : undefined
    },
  }
}

export function wholeNumber(noun: string, least: number, most: number): Format<number> {
  return {
    allowed: `a ${noun} from ${least} to ${most}`,
    read: (text) => (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
  }
}

export const port = wholeNumber('port number', 0, 65535)

export const hours: Format<number> = {
  allowed: 'a number of hours, at most 1000, such as 24 or 0.5',
  read: (text) => (/^\d{1,4}(\.\d{1,4})?$/.test(text) && Number(text) > 0 && Number(text) <= 1000 ? Number(text) : undefined),
}

export const utcDate: Format<Date> = {
  allowed: 'a date and time in UTC, such as 2030-01-31T00:00:00Z',
  read: parseIsoDate,
}

export const host: Format<string> = {
  allowed: 'an IP address or a host name',
  read: (text) => (isIP(text) || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) ? text : undefined),
}

/** The address of a listener: a scheme, a host and perhaps a port. */
export const origin: Format<URL> = {
  allowed: 'an http or https address without a path, such as https://belfry.example',
  read: (text) => {
    const url = readHttpAddress(text)
    return url && url.pathname === '/' && !url.search && !url.username ? url : undefined
  },
}

export const endpointOrLog: Format<URL | 'log'> = {
  allowed: 'an http or https address, or log',
  read: (text) => (text === 'log' ? text : readHttpAddress(text)),
}

/** The operator's server, which may need a path. A password belongs in a header. */
export const endpoint: Format<URL> = {
  allowed: 'an http or https address without a user name or query, such as http://localhost:4318',
  read: (text) => {
    const url = readHttpAddress(text)
    return url && !url.username && !url.password && !url.search ? url : undefined
  },
}

/** As OpenTelemetry writes them: `name=value` with commas between, values percent-encoded. */
export const headerList: Format<Record<string, string>> = {
  allowed: 'a list of name=value, separated by commas, with percent-encoded values',
  read: (text) => {
    const pairs = text.split(',').map((pair) => /^([\w.-]{1,100})\s*=\s*([!-~]{0,4000})$/.exec(pair.trim()))
    try {
      return Object.fromEntries(pairs.map((pair) => [pair?.[1]?.toLowerCase(), headerValue(pair?.[2])]))
    } catch {
      return undefined
    }
  },
}

function headerValue(encoded: string | undefined) {
  const value = encoded === undefined ? '' : decodeURIComponent(encoded)
  if (!/^[ -~]+$/.test(value)) throw new RangeError('not the value of a header')
  return value
}

export const ratio: Format<number> = {
  allowed: 'a number from 0 to 1, such as 0.1',
  read: (text) => (/^[01]?(\.\d{1,9})?$/.test(text) && text !== '' && Number(text) <= 1 ? Number(text) : undefined),
}

export const serviceName: Format<string> = {
  allowed: '1 to 255 printable ASCII characters',
  read: (text) => (/^[ -~]{1,255}$/.test(text) ? text : undefined),
}

function readHttpAddress(text: string) {
  const url = URL.parse(text)
  return url && /^https?:$/.test(url.protocol) && !url.hash ? url : undefined
}

export const postgresAddress: Format<string> = {
  allowed: 'a postgres:// address, with one host or several that are separated by commas',
  read: (text) => {
    const isServer = ({ connectionString = '' }) => /^postgres(ql)?:\/\//.test(connectionString) && URL.canParse(connectionString)
    return connectionsTo(text).every(isServer) ? text : undefined
  },
}

export const folder: Format<string> = {
  allowed: 'the path of a folder',
  read: (text) => (text === '' || text.includes('\0') ? undefined : resolve(text)),
}

export const token: Format<string> = {
  allowed: '20 to 255 printable ASCII characters without spaces',
  read: (text) => (/^[!-~]{20,255}$/.test(text) ? text : undefined),
}

export const printable: Format<string> = {
  allowed: 'at most 255 printable ASCII characters without spaces',
  read: (text) => (/^[!-~]{1,255}$/.test(text) ? text : undefined),
}

/** The value is the text of the file. */
export const certificateFile: Format<string> = {
  allowed: 'a readable file with certificates in PEM form',
  read: (path) => {
    try {
      const text = readFileSync(path, 'utf8')
      return text.includes('-----BEGIN CERTIFICATE-----') ? text : undefined
    } catch {
      return undefined
    }
  },
}

export const proxies: Format<string[]> = {
  allowed: 'a comma-separated list of IP addresses, CIDR ranges and the words loopback, linklocal, uniquelocal; or none',
  read: (text) => {
    if (text === 'none') return []
    const entries = text.split(',').map((entry) => entry.trim())
    return entries.every(isProxy) ? entries : undefined
  },
}

function isProxy(entry: string) {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(entry)) return true
  const [ip = '', bits, ...rest] = entry.split('/')
  const widest = isIP(ip) === 6 ? 128 : 32
  return isIP(ip) > 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= widest))
}
